/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that gcc's -fsanitize=thread calls, and the wrapped functions of memory. The names
 * and types are those of gcc's sanitizer.def; the orders of atomic operations are taken as the
 * strongest. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "execute/exact.h"
#include "execute/exact_global.h"

enum {
    LOAD = KMM__EXACT_LOAD,
    STORE = KMM__EXACT_STORE,
    ALONE_LOAD = KMM__EXACT_LOAD | KMM__EXACT_ALONE,
    ALONE_STORE = KMM__EXACT_STORE | KMM__EXACT_ALONE,
    ALONE_BOTH = KMM__EXACT_LOAD | KMM__EXACT_STORE | KMM__EXACT_ALONE
};

/* Behind the call, in the code that was compiled. */
#define PC __builtin_return_address(0)

__attribute__((constructor(101))) static void begin(void)
{
    kmm__exact_begin();
}

void __tsan_init(void);
void __tsan_init(void)
{
    kmm__exact_begin();
}

void __tsan_func_entry(void *pc);
void __tsan_func_entry(void *pc)
{
    (void)pc;
}

void __tsan_func_exit(void);
void __tsan_func_exit(void) {}

void __tsan_vptr_update(void **at, void *value);
void __tsan_vptr_update(void **at, void *value)
{
    (void)value;
    kmm__exact_access(at, sizeof(*at), STORE, PC);
}

void __tsan_vptr_read(void **at);
void __tsan_vptr_read(void **at)
{
    kmm__exact_access(at, sizeof(*at), LOAD, PC);
}

/* ---- Loads and stores ---- */

#define ACCESS(name, bytes, kind)                                                                  \
    void __tsan_##name(void *at);                                                                  \
    void __tsan_##name(void *at)                                                                   \
    {                                                                                              \
        kmm__exact_access(at, bytes, kind, PC);                                                    \
    }

#define ACCESSES(bytes)                                                                            \
    ACCESS(read##bytes, bytes, LOAD)                                                               \
    ACCESS(write##bytes, bytes, STORE)                                                             \
    ACCESS(unaligned_read##bytes, bytes, LOAD)                                                     \
    ACCESS(unaligned_write##bytes, bytes, STORE)                                                   \
    ACCESS(volatile_read##bytes, bytes, ALONE_LOAD)                                                \
    ACCESS(volatile_write##bytes, bytes, ALONE_STORE)                                              \
    ACCESS(unaligned_volatile_read##bytes, bytes, ALONE_LOAD)                                      \
    ACCESS(unaligned_volatile_write##bytes, bytes, ALONE_STORE)

ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)

void __tsan_read_range(void *at, size_t bytes);
void __tsan_read_range(void *at, size_t bytes)
{
    kmm__exact_access(at, bytes, LOAD, PC);
}

void __tsan_write_range(void *at, size_t bytes);
void __tsan_write_range(void *at, size_t bytes)
{
    kmm__exact_access(at, bytes, STORE, PC);
}

/* ---- Functions of memory ---- */

void *__real_memcpy(void *to, const void *from, size_t bytes);
void *__real_memmove(void *to, const void *from, size_t bytes);
void *__real_memset(void *to, int value, size_t bytes);
void *__wrap_memcpy(void *to, const void *from, size_t bytes);
void *__wrap_memmove(void *to, const void *from, size_t bytes);
void *__wrap_memset(void *to, int value, size_t bytes);

void *__wrap_memcpy(void *to, const void *from, size_t bytes)
{
    kmm__exact_access(from, bytes, LOAD, PC);
    kmm__exact_access(to, bytes, STORE, PC);
    return __real_memcpy(to, from, bytes);
}

void *__wrap_memmove(void *to, const void *from, size_t bytes)
{
    kmm__exact_access(from, bytes, LOAD, PC);
    kmm__exact_access(to, bytes, STORE, PC);
    return __real_memmove(to, from, bytes);
}

void *__wrap_memset(void *to, int value, size_t bytes)
{
    kmm__exact_access(to, bytes, STORE, PC);
    return __real_memset(to, value, bytes);
}

/* ---- Atomic operations ---- */

typedef uint8_t word8;
typedef uint16_t word16;
typedef uint32_t word32;
typedef uint64_t word64;

/* Does `operation` on the variable at `at`. Chunks know of each other by it, as `order` says. */
#define IN_TURN(order, loads, stores, operation)                                                   \
    do {                                                                                           \
        bool is_turn = kmm__exact_turn_begin(at);                                                  \
        operation;                                                                                 \
        if (is_turn)                                                                               \
            kmm__exact_turn_end(at, order, loads, stores);                                         \
    } while (0)

#define FETCH(bits, name)                                                                          \
    word##bits __tsan_atomic##bits##_fetch_##name(word##bits *at, word##bits value, int order);    \
    word##bits __tsan_atomic##bits##_fetch_##name(word##bits *at, word##bits value, int order)     \
    {                                                                                              \
        word##bits old;                                                                            \
        kmm__exact_access(at, sizeof(*at), ALONE_BOTH, PC);                                        \
        IN_TURN(order, true, true, old = __atomic_fetch_##name(at, value, __ATOMIC_SEQ_CST));      \
        return old;                                                                                \
    }

#define EXCHANGE_IF(bits, name)                                                                    \
    bool __tsan_atomic##bits##_compare_exchange_##name(word##bits *at, word##bits *expected,       \
                                                       word##bits value, int done, int failed);    \
    bool __tsan_atomic##bits##_compare_exchange_##name(word##bits *at, word##bits *expected,       \
                                                       word##bits value, int done, int failed)     \
    {                                                                                              \
        bool is_done;                                                                              \
        kmm__exact_access(at, sizeof(*at), ALONE_BOTH, PC);                                        \
        IN_TURN(is_done ? done : failed, true, is_done,                                            \
                is_done = __atomic_compare_exchange_n(at, expected, value, false,                  \
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));        \
        return is_done;                                                                            \
    }

#define ATOMICS(bits)                                                                              \
    word##bits __tsan_atomic##bits##_load(const word##bits *at, int order);                        \
    word##bits __tsan_atomic##bits##_load(const word##bits *at, int order)                         \
    {                                                                                              \
        word##bits value;                                                                          \
        kmm__exact_access(at, sizeof(*at), ALONE_LOAD, PC);                                        \
        IN_TURN(order, true, false, value = __atomic_load_n(at, __ATOMIC_SEQ_CST));                \
        return value;                                                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(word##bits *at, word##bits value, int order);                 \
    void __tsan_atomic##bits##_store(word##bits *at, word##bits value, int order)                  \
    {                                                                                              \
        kmm__exact_access(at, sizeof(*at), ALONE_STORE, PC);                                       \
        IN_TURN(order, false, true, __atomic_store_n(at, value, __ATOMIC_SEQ_CST));                \
    }                                                                                              \
    word##bits __tsan_atomic##bits##_exchange(word##bits *at, word##bits value, int order);        \
    word##bits __tsan_atomic##bits##_exchange(word##bits *at, word##bits value, int order)         \
    {                                                                                              \
        word##bits old;                                                                            \
        kmm__exact_access(at, sizeof(*at), ALONE_BOTH, PC);                                        \
        IN_TURN(order, true, true, old = __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST));        \
        return old;                                                                                \
    }                                                                                              \
    EXCHANGE_IF(bits, strong)                                                                      \
    word##bits __tsan_atomic##bits##_compare_exchange_val(word##bits *at, word##bits expected,     \
                                                          word##bits value, int done, int failed); \
    word##bits __tsan_atomic##bits##_compare_exchange_val(word##bits *at, word##bits expected,     \
                                                          word##bits value, int done, int failed)  \
    {                                                                                              \
        __tsan_atomic##bits##_compare_exchange_strong(at, &expected, value, done, failed);         \
        return expected;                                                                           \
    }                                                                                              \
    EXCHANGE_IF(bits, weak)                                                                        \
    FETCH(bits, add)                                                                               \
    FETCH(bits, sub)                                                                               \
    FETCH(bits, and)                                                                               \
    FETCH(bits, or)                                                                                \
    FETCH(bits, xor)                                                                               \
    FETCH(bits, nand)

ATOMICS(8)
ATOMICS(16)
ATOMICS(32)
ATOMICS(64)

/* Of 16 bytes, all by one instruction, which not every x86 has. */
#if defined(__x86_64__)
#define CAS16 __attribute__((target("cx16")))
#else
#define CAS16
#endif

__extension__ typedef unsigned __int128 word128;

CAS16 static word128 swap_if(word128 *at, word128 expected, word128 value)
{
    return __sync_val_compare_and_swap(at, expected, value);
}

word128 __tsan_atomic128_load(word128 *at, int order);
word128 __tsan_atomic128_load(word128 *at, int order)
{
    word128 value;
    kmm__exact_access(at, sizeof(*at), ALONE_LOAD, PC);
    IN_TURN(order, true, false, value = swap_if(at, 0, 0));
    return value;
}

word128 __tsan_atomic128_compare_exchange_val(word128 *at, word128 expected, word128 value,
                                              int done, int failed);
word128 __tsan_atomic128_compare_exchange_val(word128 *at, word128 expected, word128 value,
                                              int done, int failed)
{
    word128 old;
    (void)failed;
    kmm__exact_access(at, sizeof(*at), ALONE_BOTH, PC);
    IN_TURN(done, true, true, old = swap_if(at, expected, value));
    return old;
}

#define EXCHANGE_IF_16(name)                                                                       \
    bool __tsan_atomic128_compare_exchange_##name(word128 *at, word128 *expected, word128 value,   \
                                                  int done, int failed);                           \
    bool __tsan_atomic128_compare_exchange_##name(word128 *at, word128 *expected, word128 value,   \
                                                  int done, int failed)                            \
    {                                                                                              \
        word128 wanted = *expected;                                                                \
        *expected = __tsan_atomic128_compare_exchange_val(at, wanted, value, done, failed);        \
        return *expected == wanted;                                                                \
    }

EXCHANGE_IF_16(strong)
EXCHANGE_IF_16(weak)

#define CHANGE_16(name, loads, kind, result)                                                       \
    word128 __tsan_atomic128_##name(word128 *at, word128 value, int order);                        \
    word128 __tsan_atomic128_##name(word128 *at, word128 value, int order)                         \
    {                                                                                              \
        word128 old, now;                                                                          \
        kmm__exact_access(at, sizeof(*at), kind, PC);                                              \
        IN_TURN(order, loads, true, {                                                              \
            for (now = swap_if(at, 0, 0), old = now + 1; old != now;) {                            \
                old = now;                                                                         \
                now = swap_if(at, old, result);                                                    \
            }                                                                                      \
        });                                                                                        \
        return old;                                                                                \
    }

CHANGE_16(store, false, ALONE_STORE, value)
CHANGE_16(exchange, true, ALONE_BOTH, value)
CHANGE_16(fetch_add, true, ALONE_BOTH, old + value)
CHANGE_16(fetch_sub, true, ALONE_BOTH, old - value)
CHANGE_16(fetch_and, true, ALONE_BOTH, old &value)
CHANGE_16(fetch_or, true, ALONE_BOTH, old | value)
CHANGE_16(fetch_xor, true, ALONE_BOTH, old ^ value)
CHANGE_16(fetch_nand, true, ALONE_BOTH, ~(old &value))

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order)
{
    (void)order;
    kmm__exact_fence();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void __tsan_atomic_signal_fence(int order);
void __tsan_atomic_signal_fence(int order)
{
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
