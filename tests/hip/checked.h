// SPDX-License-Identifier: Apache-2.0
// A library of kernels for the fake HIP driver, in the form that kmmcc -fkmm-check gives them for AMD GPUs, built for the CPU
// by make_checked_kernels. Included behind the declarations of kernels by their mangled names:
//     extern "C" void _Z4stepPfi(float *, int);
//     static const fake::kernel kernels[] = {FAKE_CHECKED(_Z4stepPfi)};
// Threads run one after the other.
#include <stdint.h>
#include <string.h>

#include <type_traits>
#include <utility>
#include <vector>

#include <kmm/launch.h>

#include "fake_gpu.h"

namespace fake {

// What AMD's runtime passes to a kernel.
struct packet { uint16_t header, setup, block[3], unused; uint32_t threads[3]; };
struct implicit { uint32_t blocks[3]; uint16_t block[3], rest[3]; unsigned char more[256]; };
struct place { uint32_t thread[3], block[3]; fake::packet packet; fake::implicit implicit; };
static thread_local place now;

// A clone's first parameter is the place of its blocks; others are passed as they are.
template <class P> static P argument(void *at)
{
    if constexpr (std::is_same<P, const kmm_checked_blocks_t *>::value)
        return static_cast<P>(at);
    else
        return *static_cast<P *>(at);
}
template <class P> constexpr uint32_t bytes_of()
{
    return std::is_same<P, const kmm_checked_blocks_t *>::value ? sizeof(kmm_checked_blocks_t) : sizeof(P);
}

struct kernel { const char *name; void (*run)(void **); std::vector<uint32_t> bytes; };

template <class... P, size_t... K> static void call(void (*f)(P...), void **args, std::index_sequence<K...>)
{
    f(argument<P>(args[K])...);
}
template <class F, F f> struct called;
template <class... P, void (*f)(P...)> struct called<void (*)(P...), f> {
    static void run(void **args) { call(f, args, std::index_sequence_for<P...>()); }
    static std::vector<uint32_t> bytes() { return {bytes_of<P>()...}; }
};
#define FAKE_CHECKED(name) \
    { #name, fake::called<decltype(&name), &name>::run, fake::called<decltype(&name), &name>::bytes() }

static void run_block(const kernel *k, const uint32_t block[3], void **args)
{
    for (uint32_t z = 0; z < block[2]; z++)
        for (uint32_t y = 0; y < block[1]; y++)
            for (uint32_t x = 0; x < block[0]; x++) {
                const uint32_t thread[3] = {x, y, z};
                memcpy(now.thread, thread, sizeof(thread));
                k->run(args);
            }
}

static int run(const fake_program_kernel_t *p, const uint32_t grid[3], const uint32_t block[3], unsigned, void **args)
{
    now = {};
    for (int d = 0; d < 3; d++) {
        now.packet.block[d] = now.implicit.block[d] = static_cast<uint16_t>(block[d]);
        now.packet.threads[d] = grid[d] * block[d];
        now.implicit.blocks[d] = grid[d];
    }
    for (uint32_t z = 0; z < grid[2]; z++)
        for (uint32_t y = 0; y < grid[1]; y++)
            for (uint32_t x = 0; x < grid[0]; x++) {
                const uint32_t at[3] = {x, y, z};
                memcpy(now.block, at, sizeof(at));
                run_block(static_cast<const kernel *>(p->context), block, args);
            }
    return 0;
}

} // namespace fake

#define FAKE_VALUE(type, f, name, value) extern "C" type f(void) __asm__("fake." name); type f(void) { return value; }
FAKE_VALUE(uint32_t, fake_thread_x, "workitem.id.x", fake::now.thread[0])
FAKE_VALUE(uint32_t, fake_thread_y, "workitem.id.y", fake::now.thread[1])
FAKE_VALUE(uint32_t, fake_thread_z, "workitem.id.z", fake::now.thread[2])
FAKE_VALUE(uint32_t, fake_block_x, "workgroup.id.x", fake::now.block[0])
FAKE_VALUE(uint32_t, fake_block_y, "workgroup.id.y", fake::now.block[1])
FAKE_VALUE(uint32_t, fake_block_z, "workgroup.id.z", fake::now.block[2])
FAKE_VALUE(const void *, fake_packet, "dispatch.ptr", &fake::now.packet)
FAKE_VALUE(const void *, fake_implicit, "implicitarg.ptr", &fake::now.implicit)

#define FAKE_KERNELS(list)                                                                                       \
    extern "C" fake_program_kernel_t *fake_kernel_named(const char *name)                                       \
    {                                                                                                            \
        for (const fake::kernel &k : list)                                                                       \
            if (strcmp(k.name, name) == 0)                                                                       \
                return new fake_program_kernel_t{                                                                \
                    {nullptr, static_cast<uint32_t>(k.bytes.size()), k.bytes.data(), 0, nullptr}, fake::run, &k}; \
        return nullptr;                                                                                          \
    }
