/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions with barriers, called by kernels that run a block at once. The caller's loop over the
 * threads makes each thread's call as it is written, but these calls only record their arguments.
 * The function then runs once for the whole block:
 *
 *     kmm_host_call<decltype(total(s, v))> kmm__c0;
 *     kmm_host_each<0>(kmm__e, kmm_host_whole(kmm__e), KMM_HOST_EACH {
 *         kmm__c0.call(kmm__t, [&]() -> decltype(total(s, v)) { return total(s, v); });
 *     });
 *     kmm__c0.join(kmm__b);
 *     kmm_host_each<0>(kmm__e, kmm_host_whole(kmm__e), KMM_HOST_EACH {
 *         x[threadIdx.x] = kmm__c0.get(kmm__t);
 *     });
 *
 * So the compiler resolves overloads, templates, conversions and default arguments.
 */
#ifndef KMM_HOST_CALL_H
#define KMM_HOST_CALL_H

#ifndef KMM_HOST_PARSE

/* A type without its qualifiers, among them `restrict`. */
template <class kmm_T> struct kmm_host_bare {
    typedef typename std::remove_cv<kmm_T>::type type;
};
template <class kmm_T> struct kmm_host_bare<kmm_T *__restrict__> {
    typedef kmm_T *type;
};

/* The values of one type, a parameter's or a result's, one for each thread of a block. */
template <class kmm_T> struct kmm_host_kept {
    typedef typename kmm_host_bare<kmm_T>::type value_type;
    kmm_host_values<value_type> at;
    KMM_HOST_INLINE value_type &operator[](ptrdiff_t t) { return at[t]; }
    KMM_HOST_INLINE void kmm_put(ptrdiff_t t, kmm_T &v)
    {
        ::new (static_cast<void *>(&at[t])) value_type(static_cast<kmm_T &&>(v));
    }
    KMM_HOST_INLINE void kmm_give(ptrdiff_t t, kmm_T v) { kmm_put(t, v); }
    KMM_HOST_INLINE kmm_T &&take(ptrdiff_t t) { return static_cast<kmm_T &&>(at[t]); }
};
template <class kmm_T> struct kmm_host_kept<kmm_T &> {
    kmm_T *at[KMM_HOST_THREADS];
    KMM_HOST_INLINE kmm_T &operator[](ptrdiff_t t) { return *at[t]; }
    KMM_HOST_INLINE void kmm_put(ptrdiff_t t, kmm_T &v) { at[t] = &v; }
    KMM_HOST_INLINE void kmm_give(ptrdiff_t t, kmm_T &v) { at[t] = &v; }
    KMM_HOST_INLINE kmm_T &take(ptrdiff_t t) { return *at[t]; }
};
template <class kmm_T> struct kmm_host_kept<kmm_T &&> : kmm_host_kept<kmm_T &> {
};
template <> struct kmm_host_kept<void> {
    KMM_HOST_INLINE void take(ptrdiff_t) {}
};

/* Memory for the calls that are in progress on this thread of the CPU, last in first out. */
struct kmm_host_stack {
    struct piece {
        piece *below;
        size_t room, used;
    };
    piece *top;
    kmm_host_stack() : top(nullptr) {}
    kmm_host_stack(const kmm_host_stack &) = delete;
    ~kmm_host_stack()
    {
        for (piece *p = top, *below; p; p = below) {
            below = p->below;
            free(p);
        }
    }
    static size_t rounded(size_t bytes) { return (bytes + 255) / 256 * 256; }
    void *push(size_t bytes)
    {
        const size_t header = rounded(sizeof(piece)), wanted = rounded(bytes);
        if (!top || top->room - top->used < wanted) {
            const size_t room = wanted > ((size_t)1 << 20) ? wanted : (size_t)1 << 20;
            piece *fresh = static_cast<piece *>(kmm_host_allocate(header + room));
            *fresh = piece{top, room, 0};
            top = fresh;
        }
        void *p = reinterpret_cast<char *>(top) + header + top->used;
        top->used += wanted;
        return p;
    }
    void pop(size_t bytes)
    {
        top->used -= rounded(bytes);
        if (top->used == 0 && top->below) {
            piece *empty = top;
            top = empty->below;
            free(empty);
        }
    }
};
inline kmm_host_stack &kmm_host_calls()
{
    static thread_local kmm_host_stack stack;
    return stack;
}

struct kmm_host_frame {
    typedef void run_t(const kmm_host_block &caller, kmm_host_frame &frame);
    int thread = 0;            /* the thread of the block that is passing its arguments now */
    void *arguments = nullptr; /* of all threads; nullptr if no thread has called the function */
    size_t bytes = 0;
    run_t *run = nullptr;
    void *result = nullptr; /* a kmm_host_kept of the function's result type */
    size_t result_bytes = 0;
};
/* If set, the next function that is called records its arguments there instead of running. */
KMM_HOST_VARIABLE kmm_host_frame *kmm_host_bringing;

__attribute__((__noinline__, __cold__, __noreturn__)) inline void kmm_host_hidden_barrier()
{
    fprintf(stderr, "kmm: a function that meets at a barrier is called by one that kmmcc did not "
                    "see; compile with -fkmm-fibers\n");
    abort();
}

template <class kmm_R> struct kmm_host_result {
    kmm_host_kept<kmm_R> kept;
    template <class kmm_F> KMM_HOST_INLINE void kmm_call(kmm_host_frame *frame, int t, kmm_F f)
    {
        kmm_R result = f();
        if (kmm_host_bringing == frame) /* the call was of another function, and has run */
            kept.kmm_put(t, result);
    }
};
template <> struct kmm_host_result<void> {
    kmm_host_kept<void> kept;
    template <class kmm_F> KMM_HOST_INLINE void kmm_call(kmm_host_frame *, int, kmm_F f) { f(); }
};

template <class kmm_R> struct kmm_host_call : kmm_host_frame {
    kmm_host_result<kmm_R> results;
    kmm_host_call()
    {
        result = &results.kept;
        result_bytes = sizeof(results.kept);
    }
    kmm_host_call(const kmm_host_call &) = delete;
    ~kmm_host_call()
    {
        if (arguments)
            kmm_host_calls().pop(bytes);
    }
    template <class kmm_F> KMM_HOST_INLINE void kmm_call(int t, kmm_F f)
    {
        thread = t;
        kmm_host_bringing = this;
        results.kmm_call(this, t, f);
        kmm_host_bringing = nullptr;
    }
    void kmm_join(const kmm_host_block &caller)
    {
        if (run)
            run(caller, *this);
    }
    KMM_HOST_INLINE kmm_R kmm_get(int t) { return results.kept.take(t); }
};

/* The placeholder result of a call that only records its arguments. Nobody reads it. */
template <class kmm_R> struct kmm_host_nothing {
    static kmm_R kmm_get()
    {
        kmm_host_slot<typename std::remove_cv<kmm_R>::type> slot;
        memset(static_cast<void *>(&slot), 0, sizeof(slot));
        return static_cast<kmm_R &&>(slot.value);
    }
};
template <class kmm_R> struct kmm_host_nothing<kmm_R &> {
    static kmm_R &kmm_get()
    {
        alignas(64) static thread_local char nobody[64];
        return *reinterpret_cast<kmm_R *>(nobody);
    }
};
template <class kmm_R> struct kmm_host_nothing<kmm_R &&> {
    static kmm_R &&kmm_get() { return static_cast<kmm_R &&>(kmm_host_nothing<kmm_R &>::kmm_get()); }
};
template <> struct kmm_host_nothing<void> {
    static void kmm_get() {}
};

template <size_t k, class kmm_P> struct kmm_host_argument {
    kmm_host_kept<kmm_P> kept;
};

template <class kmm_Indices, class... kmm_P> struct kmm_host_arguments;
template <size_t... k, class... kmm_P>
struct kmm_host_arguments<kmm_host_indices<k...>, kmm_P...> : kmm_host_argument<k, kmm_P>... {
    KMM_HOST_INLINE void kmm_put(ptrdiff_t t, typename std::remove_reference<kmm_P>::type &...p)
    {
        const int all[] = {0, (kmm_host_argument<k, kmm_P>::kept.kmm_put(t, p), 0)...};
        (void)all;
        (void)t;
    }
    template <class kmm_Body, class kmm_R> void run(kmm_host_block &b, kmm_host_kept<kmm_R> &result)
    {
        kmm_Body::kmm__block(b, result, kmm_host_argument<k, kmm_P>::kept...);
    }
};

/* A call of a function with the parameters P: records the arguments of each thread, and later runs
 * the function. */
template <class kmm_Body, class kmm_R, class... kmm_P> struct kmm_host_bring {
    typedef kmm_host_arguments<typename kmm_host_count<sizeof...(kmm_P)>::type, kmm_P...> all;

    static void run(const kmm_host_block &caller, kmm_host_frame &frame)
    {
        kmm_host_block block(caller);
        static_cast<all *>(frame.arguments)
            ->template run<kmm_Body, kmm_R>(block,
                                            *static_cast<kmm_host_kept<kmm_R> *>(frame.result));
    }
    static KMM_HOST_INLINE kmm_R kmm_call(typename std::remove_reference<kmm_P>::type &...p)
    {
        kmm_host_frame &frame = *kmm_host_bringing;
        kmm_host_bringing = nullptr;
        if (!frame.arguments) {
            if (frame.result_bytes != sizeof(kmm_host_kept<kmm_R>))
                kmm_host_hidden_barrier();
            frame.bytes = sizeof(all);
            frame.arguments = ::new (kmm_host_calls().push(sizeof(all))) all;
            frame.run = run;
        }
        static_cast<all *>(frame.arguments)->kmm_put(frame.thread, p...);
        return kmm_host_nothing<kmm_R>::kmm_get();
    }
};
#endif

/* ---- Operations of the lanes of a warp or a tile, in both kinds of kernels ---- */

/* The values that the lanes contribute. */
template <class kmm_T> struct kmm_host_lanes {
    union {
        kmm_T value[32];
    };
    unsigned here; /* mask of the lanes that contribute */
    kmm_host_lanes() {}
    ~kmm_host_lanes() {}
    void kmm_put(uint32_t lane, const void *bytes)
    {
        memcpy(static_cast<void *>(&value[lane]), bytes, sizeof(kmm_T));
    }
};

template <class kmm_T, class kmm_R, class kmm_F> struct kmm_host_meeting {
#ifndef KMM_HOST_PARSE
    static void kmm__block(kmm_host_block &b, kmm_host_kept<kmm_R> &result,
                           kmm_host_kept<unsigned> &mask, kmm_host_kept<kmm_T> &value,
                           kmm_host_kept<kmm_F> &f)
    {
        for (uint32_t first = 0; first < b.threads; first += 32) {
            kmm_host_lanes<kmm_T> lanes;
            unsigned present = 0;
            for (uint32_t k = 0; k < 32 && first + k < b.threads; k++)
                if (!b.kmm_state[first + k]) {
                    lanes.kmm_put(k, &value[first + k]);
                    present |= 1u << k;
                }
            for (uint32_t k = 0; k < 32; k++)
                if (present >> k & 1) {
                    lanes.here = present & kmm_host_with_lane(mask[first + k], k);
                    result.kmm_give(first + k, f[first + k](lanes, k));
                }
        }
    }
#endif
};

/* In kernels with fibers the thread waits for all lanes in the mask. */
template <class kmm_T>
static inline void kmm_host_gather(unsigned mask, const kmm_T &value, kmm_host_lanes<kmm_T> *lanes,
                                   std::true_type)
{
    uint64_t word = 0, words[KMM_FIBER_WARP];
    memcpy(&word, &value, sizeof(value));
    lanes->here = kmm_fiber_exchange(mask, word, words);
    for (uint32_t k = 0; k < KMM_FIBER_WARP; k++)
        if (lanes->here >> k & 1)
            lanes->kmm_put(k, &words[k]);
}
template <class kmm_T>
static inline void kmm_host_gather(unsigned mask, const kmm_T &value, kmm_host_lanes<kmm_T> *lanes,
                                   std::false_type)
{
    uint64_t word = (uint64_t)(uintptr_t)&value,
             words[KMM_FIBER_WARP]; /* of the fiber's stack: it waits until all have read */
    lanes->here = kmm_fiber_exchange(mask, word, words);
    for (uint32_t k = 0; k < KMM_FIBER_WARP; k++)
        if (lanes->here >> k & 1)
            lanes->kmm_put(k, (const void *)(uintptr_t)words[k]);
    kmm_fiber_exchange(mask, 0, words);
}

/* Collects the values of the lanes in the mask. Returns f(values, own lane) on each of them. */
template <class kmm_R, class kmm_T, class kmm_F>
static inline kmm_R kmm_host_meet(unsigned mask, kmm_T value, kmm_F f)
{
#ifndef KMM_HOST_PARSE
    if (kmm_host_bringing)
        return kmm_host_bring<kmm_host_meeting<kmm_T, kmm_R, kmm_F>, kmm_R, unsigned, kmm_T,
                              kmm_F>::kmm_call(mask, value, f);
#endif
    kmm_host_lanes<kmm_T> lanes;
    kmm_host_gather(mask, value, &lanes, std::integral_constant<bool, sizeof(kmm_T) <= 8>());
    return f(lanes, kmm_fiber_lane());
}

#endif
