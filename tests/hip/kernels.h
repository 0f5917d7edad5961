// SPDX-License-Identifier: Apache-2.0
// A library of kernels for the fake drivers: included behind a program in HIP or CUDA that kmmcc compiles for the CPU, with its
// pragmas ignored. FAKE_KERNELS(f, g<int>) lists its kernels. A clone of theirs, as the driver is asked for it by its
// mangled name, is the same kernel with a part of its grid.
#ifdef KMM_HOST_PARSE // kmmcc looks for kernels
#define FAKE_KERNELS(...)
#else
#include <dlfcn.h>
#include <string.h>

#include <string>
#include <vector>

#include "fake_gpu.h"

namespace fake {

struct kernel {
    std::string name; // mangled
    const kmm_kernel_t *run;
};

// A kernel on the CPU is a function that hands itself to libkmm; here is what it hands itself to.
static const kmm_kernel_t *&handed_over()
{
    static const kmm_kernel_t *k;
    return k;
}

template <class... P> static kernel make(void (*function)(P...))
{
    Dl_info info = {};
    kmm_host_configured().given = true;
    function(typename std::remove_cv<P>::type()...);
    dladdr(reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(function)), &info);
    return kernel{info.dli_sname ? info.dli_sname : "", handed_over()};
}

// "_Z3foobar" is foo with the types bar; behind the name of a template are its arguments.
struct parts { std::string name, types; };
static parts split(const std::string &mangled)
{
    if (mangled.compare(0, 2, "_Z") != 0)
        return parts{mangled, ""};
    size_t digits = mangled.find_first_not_of("0123456789", 2);
    size_t length = std::stoul(mangled.substr(2, digits - 2));
    return parts{mangled.substr(digits, length), mangled.substr(digits + length)};
}

// moved: which parameters of a clone that reduces are moved pointers (kmm_partials_head_t).
struct entry { std::string name; fake_program_kernel_t kernel; std::vector<uint32_t> bytes; const kmm_kernel_t *run; bool is_clone; uint32_t moved; };

static uint32_t chunk_along(const kmm_partials_head_t *h, int d, uint32_t block)
{
    return static_cast<uint32_t>(static_cast<uint64_t>(h->inverse[d]) * (2 * block) >> 32) >> h->shift[d];
}

// Runs block k of a clone that reduces, with the pointers of its chunk.
static void run_moved(const entry *e, kmm_host_blocks_t part, uint64_t k, void **args)
{
    const kmm_partials_head_t *h = static_cast<const kmm_partials_head_t *>(args[0]);
    const uint64_t *stride = reinterpret_cast<const uint64_t *>(h + 1);
    const uint32_t at[3] = {static_cast<uint32_t>(part.offset[0] + k % part.count[0]),
                            static_cast<uint32_t>(part.offset[1] + k / part.count[0] % part.count[1]),
                            static_cast<uint32_t>(part.offset[2] + k / part.count[0] / part.count[1])};
    const uint32_t chunk = (chunk_along(h, 2, at[2]) * h->chunks_y + chunk_along(h, 1, at[1])) * h->chunks_x + chunk_along(h, 0, at[0]);
    std::vector<char *> pointers(e->bytes.size());
    std::vector<void *> own(args + 1, args + e->bytes.size());
    for (size_t p = 1, n = 0; p < e->bytes.size(); p++) {
        if (!(e->moved >> p & 1))
            continue;
        pointers[p] = *static_cast<char **>(args[p]) + stride[n++] * chunk;
        own[p - 1] = &pointers[p];
    }
    part.first = k;
    part.last = k + 1;
    e->run->run(&part, own.data());
}

static int run_all(const fake_program_kernel_t *k, const uint32_t grid[3], const uint32_t block[3], unsigned shared, void **args)
{
    const entry *e = static_cast<const entry *>(k->context);
    const kmm_blocks_t all = {0, 0, 0, grid[0], grid[1], grid[2]};
    const kmm_blocks_t &b = e->is_clone ? *static_cast<const kmm_blocks_t *>(args[0]) : all;
    const kmm_host_blocks_t part = {{b.grid_x, b.grid_y, b.grid_z}, {block[0], block[1], block[2]}, {b.offset_x, b.offset_y, b.offset_z},
                                    {grid[0], grid[1], grid[2]}, 0, static_cast<uint64_t>(grid[0]) * grid[1] * grid[2], shared};
    for (uint64_t n = 0; e->moved && n < part.last; n++)
        run_moved(e, part, n, args);
    if (!e->moved)
        e->run->run(&part, args + e->is_clone);
    return 0;
}

static entry *entry_of(const std::string &wanted, const kernel &k)
{
    static const std::string blocks = "10kmm_blocks", partials = "12kmm_partialsILj";
    const parts asked = split(wanted), own = split(k.name);
    const bool is_clone = asked.name == "kmm_" + own.name;
    const size_t moved = asked.types.find(partials), at = moved < asked.types.size() ? moved : asked.types.find(blocks);
    if (!(wanted == k.name || (is_clone && at != std::string::npos && own.types.compare(0, at, asked.types, 0, at) == 0)))
        return nullptr;
    entry *e = new entry{wanted, {}, {}, k.run, is_clone, 0};
    if (is_clone && moved < asked.types.size())
        e->moved = static_cast<uint32_t>(std::stoul(asked.types.substr(moved + partials.size())));
    if (is_clone)
        e->bytes.push_back(static_cast<uint32_t>(e->moved ? sizeof(kmm_partials_head_t) + static_cast<uint32_t>(__builtin_popcount(e->moved)) * sizeof(uint64_t)
                                                          : sizeof(kmm_blocks_t)));
    e->bytes.insert(e->bytes.end(), k.run->param_bytes, k.run->param_bytes + k.run->param_count);
    e->kernel.kernel.parameters = static_cast<uint32_t>(e->bytes.size());
    e->kernel.kernel.parameter_bytes = e->bytes.data();
    e->kernel.run = run_all;
    e->kernel.context = e;
    e->kernel.name = e->name.c_str();
    return e;
}

} // namespace fake

// These are the library's own: it is linked so that its calls reach them and not libkmm.
extern "C" int kmm_cuda_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *, void **)
{
    fake::handed_over() = kernel;
    return 0;
}
extern "C" int kmm_cuda_device_synchronize(void) { return 0; }

template <class... F> static fake_program_kernel_t *fake_find(const char *name, F... functions)
{
    for (const fake::kernel &k : {fake::make(functions)...})
        if (fake::entry *e = fake::entry_of(name, k))
            return &e->kernel;
    return nullptr;
}

#define FAKE_KERNELS(...) \
    extern "C" fake_program_kernel_t *fake_kernel_named(const char *name) { return fake_find(name, __VA_ARGS__); }
#endif
