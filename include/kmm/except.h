/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exceptions in rewritten C++ source. Tasks and maps end where an exception leaves their block. A
 * description is dropped where an argument of its launch throws.
 * libkmm is C, so an exception that leaves a chunk is kept here, and thrown again in the thread
 * that launched, when that next waits, or launches. Of several of one thread, that of the first
 * launch and its first chunk is kept. Those that nothing waits for end the program with an error
 * when it exits.
 */
#ifndef KMM_EXCEPT_H
#define KMM_EXCEPT_H

#include "launch.h"
#include "names_begin.h"

/* Ends the task when its block is left. */
class kmm_task_scope
{
    kmm_task_t *task;

  public:
    explicit kmm_task_scope(kmm_task_t *begun) : task(begun) {}
    kmm_task_scope(const kmm_task_scope &) = delete;
    ~kmm_task_scope() { kmm_task_end(task); }
};

/* Ends the map when its block is left. */
class kmm_data_scope
{
    void *base;
    size_t bytes;
    const char *file;
    int line;
    bool is_open;

  public:
    kmm_data_scope(void *b, size_t n, const char *f, int l)
        : base(b), bytes(n), file(f), line(l), is_open(true)
    {
    }
    kmm_data_scope(const kmm_data_scope &) = delete;
    ~kmm_data_scope() { kmm_end(); }
    void kmm_end()
    {
        if (is_open)
            kmm_data_close(base, bytes, file, line);
        is_open = false;
    }
};

#if (defined(__cpp_exceptions) || defined(__EXCEPTIONS)) && !defined(KMM_HOST_PARSE)
#include <cxxabi.h>
#include <exception>
#include <stdio.h>
#include <stdlib.h>
#include <typeinfo>

/* The exceptions that no wait has thrown yet. */
class kmm_thrown
{
    /* Of one thread of the program. */
    struct kmm_entry {
        kmm_entry *next;
        std::exception_ptr first;
        const char *name, *file;
        int line;
        kmm_chunk_t chunk;
    };
    kmm_entry *entries;
    int is_locked, is_set, is_closed; /* closed: the program exits, and waits no more */

    void lock()
    {
        while (__atomic_exchange_n(&is_locked, 1, __ATOMIC_ACQUIRE)) {
        }
    }
    void unlock() { __atomic_store_n(&is_locked, 0, __ATOMIC_RELEASE); }
    static bool is_before(const kmm_chunk_t &first, const kmm_chunk_t &other)
    {
        if (first.launch != other.launch)
            return first.launch < other.launch;
        for (int k = KMM_MAX_SPLIT - 1; k >= 0; k--)
            if (first.begin[k] != other.begin[k])
                return first.begin[k] < other.begin[k];
        return true;
    }
    kmm_entry **of_thread(int64_t thread)
    {
        kmm_entry **at = &entries;
        while (*at && (*at)->chunk.thread != thread)
            at = &(*at)->next;
        return at;
    }
    static void report(const kmm_entry *e)
    {
        const char *what = "an exception that is no std::exception";
        try {
            std::rethrow_exception(e->first);
        } catch (const std::exception &thrown) {
            what = thrown.what();
        } catch (...) {
        }
        fprintf(stderr,
                "kmm: error: %s:%d: %s: the chunk at %lld threw, and nothing waited for it: "
                "%s\n",
                e->file, e->line, e->name, static_cast<long long>(e->chunk.begin[0]), what);
    }
    void end() const
    {
        for (const kmm_entry *e = entries; e; e = e->next)
            report(e);
        fflush(nullptr);
        _Exit(EXIT_FAILURE);
    }

  public:
    kmm_thrown() : entries(), is_locked(), is_set(), is_closed() {}
    kmm_thrown(const kmm_thrown &) = delete;
    ~kmm_thrown()
    {
        kmm_wait_at_exit(); /* a chunk that still runs may throw, too */
        lock();
        __atomic_store_n(&is_closed, 1, __ATOMIC_RELEASE);
        unlock();
        if (entries)
            end();
    }
    static kmm_thrown &instance()
    {
        static kmm_thrown thrown;
        return thrown;
    }
    /* Called in a catch block. */
    void keep(const kmm_chunk_t &of, const char *function, const char *source, int at)
    {
        kmm_entry *e = new kmm_entry();
        e->first = std::current_exception();
        e->name = function;
        e->file = source;
        e->line = at;
        e->chunk = of;
        lock();
        kmm_entry **place = of_thread(of.thread), *other = *place;
        bool counts = !other || is_before(of, other->chunk);
        if (counts) {
            e->next = other ? other->next : nullptr;
            *place = e;
            __atomic_store_n(&is_set, 1, __ATOMIC_RELEASE);
            if (__atomic_load_n(&is_closed, __ATOMIC_ACQUIRE))
                end();
        }
        unlock();
        delete (counts ? other : e);
    }
    void rethrow(const char *source, int at)
    {
        if (!__atomic_load_n(&is_set, __ATOMIC_ACQUIRE))
            return;
        lock();
        bool has_own = *of_thread(kmm_thread_number()) != nullptr;
        unlock();
        if (!has_own)
            return;
        kmm_directive_wait(source, at); /* a chunk of an earlier launch may throw, too */
        lock();
        kmm_entry **place = of_thread(kmm_thread_number()), *e = *place;
        *place = e->next;
        __atomic_store_n(&is_set, entries != nullptr, __ATOMIC_RELEASE);
        unlock();
        std::exception_ptr thrown = e->first;
        delete e;
        std::rethrow_exception(thrown);
    }
};

static inline void kmm_rethrow(const char *file, int line)
{
    kmm_thrown::instance().rethrow(file, line);
}

/* Arms a description for the launch that follows, whose arguments may throw. */
class kmm_armed_scope
{
    kmm_launch_t *armed;
    int thrown;

    static int count()
    {
#if defined(__cpp_lib_uncaught_exceptions) || __cplusplus >= 201703L
        return std::uncaught_exceptions();
#else
        return std::uncaught_exception();
#endif
    }

  public:
    explicit kmm_armed_scope(kmm_launch_t *l) : armed(l), thrown(count()) { kmm_launch_arm(l); }
    kmm_armed_scope(const kmm_armed_scope &) = delete;
    ~kmm_armed_scope()
    {
        if (count() > thrown)
            kmm_launch_disarm(armed);
    }
};

/* Called in a catch block. Returns the exception's value as text, which may be in `out`; null: it
 * is not known how to read it. */
static inline const char *kmm_thrown_value(char *out, size_t size)
{
    try {
        throw;
    } catch (const std::exception &thrown) {
        return thrown.what();
    } catch (const char *thrown) {
        return thrown;
    } catch (bool thrown) {
        snprintf(out, size, "%d", thrown);
    } catch (char thrown) {
        snprintf(out, size, "%d", thrown);
    } catch (signed char thrown) {
        snprintf(out, size, "%d", thrown);
    } catch (unsigned char thrown) {
        snprintf(out, size, "%d", thrown);
    } catch (short thrown) {
        snprintf(out, size, "%d", thrown);
    } catch (unsigned short thrown) {
        snprintf(out, size, "%d", thrown);
    } catch (int thrown) {
        snprintf(out, size, "%d", thrown);
    } catch (unsigned thrown) {
        snprintf(out, size, "%u", thrown);
    } catch (long thrown) {
        snprintf(out, size, "%ld", thrown);
    } catch (unsigned long thrown) {
        snprintf(out, size, "%lu", thrown);
    } catch (long long thrown) {
        snprintf(out, size, "%lld", thrown);
    } catch (unsigned long long thrown) {
        snprintf(out, size, "%llu", thrown);
    } catch (float thrown) {
        snprintf(out, size, "%.9g", static_cast<double>(thrown));
    } catch (double thrown) {
        snprintf(out, size, "%.17g", thrown);
    } catch (...) {
        return nullptr;
    }
    return out;
}

/* Called in a catch block. True: the exception is that of a run of KMM_CHECK=result. */
static inline bool kmm_is_dropped(const kmm_chunk_t *of)
{
    char value[64];
    int status = 0;
    if (!kmm_launch_threw(of))
        return false;
    const std::type_info *type = abi::__cxa_current_exception_type();
    char *name = type ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &status) : nullptr;
    const void *object = nullptr;
#if defined(__GLIBCXX__)
    const std::exception_ptr held = std::current_exception();
    static_assert(sizeof(held) == sizeof(object), "it holds the exception's address");
    __builtin_memcpy(&object, &held, sizeof(object));
#endif
    const int drops = kmm_launch_thrown(of,
                                        name   ? name
                                        : type ? type->name()
                                               : nullptr,
                                        kmm_thrown_value(value, sizeof(value)), object);
    free(name);
    return drops != 0;
}

static inline void kmm_keep(const kmm_chunk_t *of, const char *function, const char *source, int at)
{
    if (kmm_is_dropped(of))
        return;
    kmm_thrown::instance().keep(*of, function, source, at);
}
#define KMM_TRY try
#define KMM_CATCH(name, file, line)                                                                \
    catch (...) { kmm_keep(kmm__chunk, name, file, line); }
#else
struct kmm_armed_scope {
    explicit kmm_armed_scope(kmm_launch_t *l) { kmm_launch_arm(l); }
};
static inline void kmm_rethrow(const char *, int) {}
#define KMM_TRY
#define KMM_CATCH(name, file, line)
#endif

#include "names_end.h"
#endif
