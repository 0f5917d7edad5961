/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches by a call, such as cudaLaunchKernel. Such a call names a kernel by its address, without
 * the types of its parameters. So kmmcc writes `(void *)k` as `(void *)kmm_host_kernel(k)`, which
 * records them.
 */
#ifndef KMM_HOST_CALLS_H
#define KMM_HOST_CALLS_H

enum cudaLaunchAttributeID {
    cudaLaunchAttributeIgnore = 0,
    cudaLaunchAttributeAccessPolicyWindow = 1,
    cudaLaunchAttributeCooperative = 2,
    cudaLaunchAttributeSynchronizationPolicy = 3,
    cudaLaunchAttributeClusterDimension = 4,
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
    cudaLaunchAttributeProgrammaticStreamSerialization = 6,
    cudaLaunchAttributePriority = 8,
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14
};
typedef union cudaLaunchAttributeValue {
    char pad[64];
    int cooperative, programmaticStreamSerializationAllowed, priority;
    struct {
        unsigned x, y, z;
    } clusterDim;
} cudaLaunchAttributeValue;
typedef struct cudaLaunchAttribute {
    enum cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
} cudaLaunchAttribute;
typedef struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
} cudaLaunchConfig_t;

#ifdef KMM_HOST_PARSE
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
                             size_t shared = 0, cudaStream_t stream = 0);
template <class... kmm_P>
cudaError_t cudaLaunchKernel(void (*kernel)(kmm_P...), dim3 grid, dim3 block, void **args,
                             size_t shared = 0, cudaStream_t stream = 0);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *kernel, void **args);
template <class... kmm_P, class... kmm_A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*kernel)(kmm_P...),
                               kmm_A &&...args);
#else

enum { KMM_HOST_MOST_PARAMETERS = 32 << 10 }; /* maximum bytes of parameters, as in CUDA */

/* A kernel whose address was taken, and the function that calls it with the addresses of its
 * arguments. */
struct kmm_host_entry {
    const void *kernel;
    void (*call)(const void *kernel, void **args);
    kmm_host_entry *next;
};

/* The list of entries. Entries are only added, and live as long as the process. */
inline kmm_host_entry **kmm_host_entries()
{
    static kmm_host_entry *first = nullptr;
    return &first;
}

inline const kmm_host_entry *kmm_host_entry_find(const void *kernel)
{
    const kmm_host_entry *e = __atomic_load_n(kmm_host_entries(), __ATOMIC_ACQUIRE);
    while (e && e->kernel != kernel)
        e = e->next;
    return e;
}

template <class... kmm_P> struct kmm_host_caller {
    template <size_t... k>
    static void unpack(const void *kernel, void **args, kmm_host_indices<k...>)
    {
        (void)args;
        reinterpret_cast<void (*)(kmm_P...)>(reinterpret_cast<uintptr_t>(kernel))(
            *static_cast<typename std::remove_reference<kmm_P>::type *>(args[k])...);
    }
    static void call(const void *kernel, void **args)
    {
        unpack(kernel, args, typename kmm_host_count<sizeof...(kmm_P)>::type());
    }
};

template <class... kmm_P> inline void (*kmm_host_kernel(void (*kernel)(kmm_P...)))(kmm_P...)
{
    const void *address = reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(kernel));
    if (!kmm_host_entry_find(address)) {
        kmm_host_entry *e =
            new kmm_host_entry{address, &kmm_host_caller<kmm_P...>::call,
                               __atomic_load_n(kmm_host_entries(), __ATOMIC_RELAXED)};
        while (!__atomic_compare_exchange_n(kmm_host_entries(), &e->next, e, false,
                                            __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            ;
    }
    return kernel;
}

inline cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **args,
                                    size_t shared = 0, cudaStream_t stream = 0)
{
    const kmm_host_entry *e = kmm_host_entry_find(kernel);
    if (!e)
        return cudaErrorInvalidDeviceFunction;
    kmm_host_configure(grid, block, shared, stream);
    e->call(kernel, args);
    return (cudaError_t)kmm_cuda_peek_at_last_error();
}

template <class... kmm_P>
inline cudaError_t cudaLaunchKernel(void (*kernel)(kmm_P...), dim3 grid, dim3 block, void **args,
                                    size_t shared = 0, cudaStream_t stream = 0)
{
    return cudaLaunchKernel(
        reinterpret_cast<const void *>(reinterpret_cast<uintptr_t>(kmm_host_kernel(kernel))), grid,
        block, args, shared, stream);
}

inline cudaError_t kmm_host_configuration_check(const cudaLaunchConfig_t *c)
{
    for (unsigned k = 0; k < c->numAttrs; k++) {
        const cudaLaunchAttribute *a = &c->attrs[k];
        bool cluster = a->id == cudaLaunchAttributeClusterDimension &&
                       a->val.clusterDim.x * a->val.clusterDim.y * a->val.clusterDim.z > 1;
        if ((a->id == cudaLaunchAttributeCooperative && a->val.cooperative) || cluster) {
            fprintf(stderr, "kmm: a cooperative launch, or one with clusters, is not supported on "
                            "the CPU target\n");
            return cudaErrorNotSupported;
        }
    }
    return cudaSuccess;
}

inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *kernel, void **args)
{
    cudaError_t error = kmm_host_configuration_check(c);
    return error ? error
                 : cudaLaunchKernel(kernel, c->gridDim, c->blockDim, args, c->dynamicSmemBytes,
                                    c->stream);
}

template <class... kmm_P, class... kmm_A>
inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *c, void (*kernel)(kmm_P...),
                                      kmm_A &&...args)
{
    cudaError_t error = kmm_host_configuration_check(c);
    if (error)
        return error;
    kmm_host_configure(c->gridDim, c->blockDim, c->dynamicSmemBytes, c->stream);
    kernel(static_cast<kmm_A &&>(args)...);
    return (cudaError_t)kmm_cuda_peek_at_last_error();
}

/* ---- Asking a kernel about itself ---- */

/* Calls the kernel with arguments of zeros outside of any launch: nothing is configured, and the
 * kernel only fills in `a`. */
template <class... kmm_P>
static inline cudaError_t kmm_host_ask(struct kmm_host_asked *a, void (*kernel)(kmm_P...))
{
    if (!kernel)
        return cudaErrorInvalidDeviceFunction;
    kmm_host_asking() = a;
    kernel(kmm_host_nothing<kmm_P>::kmm_get()...);
    kmm_host_asking() = nullptr;
    return cudaSuccess;
}
static inline cudaError_t kmm_host_ask(struct kmm_host_asked *a, const void *kernel)
{
    alignas(64) static thread_local char zeros[KMM_HOST_MOST_PARAMETERS];
    void *args[256];
    const kmm_host_entry *e = kmm_host_entry_find(kernel);
    if (!e)
        return cudaErrorInvalidDeviceFunction;
    for (int k = 0; k < 256; k++)
        args[k] = zeros;
    kmm_host_asking() = a;
    e->call(kernel, args);
    kmm_host_asking() = nullptr;
    return cudaSuccess;
}
#endif

#endif
