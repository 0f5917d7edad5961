/* SPDX-License-Identifier: Apache-2.0 */
/* Adds kmm's part of a link: its libraries, their folder at run time, and the wrapped calls. */
#include "driver/link.h"

#include "../../runtime/instrument/locks.h"
#include "../../runtime/instrument/transfer.h"
#include "../../runtime/managed/calls.h"
#include "base/arena.h"
#include "base/install.h"

/* All through -Xlinker, which gcc, clang and nvcc share; nvcc would move -l away from the state
 * that is pushed around it. */
static void to_linker(list_t *command, const char *flag)
{
    list_add(command, "-Xlinker");
    list_add(command, flag);
}

static void add_wraps(const char *runtime, list_t *command)
{
#define ADD_WRAP(since, result, name, parameters)                                                  \
    to_linker(command, arena_printf("--wrap=%s" #name, runtime));
    KMM_SHARED_CALLS(ADD_WRAP)
#undef ADD_WRAP
}

static void add_managed(link_kind_t kind, list_t *command)
{
#define ADD_WRAP(since, result, name, parameters) to_linker(command, "--wrap=" #name);
#define ADD_PER_THREAD(name, call) to_linker(command, "--wrap=" #name);
    if (kind.managed_cuda) {
        add_wraps("cuda", command);
        KMM_CUDA_CALLS(ADD_WRAP)
        KMM_CUDA_PER_THREAD_CALLS(ADD_PER_THREAD)
        to_linker(command, "-lkmm_cuda");
    }
    if (kind.managed_hip) {
        add_wraps("hip", command);
        KMM_HIP_CALLS(ADD_WRAP)
        to_linker(command, "-lkmm_hip");
    }
#undef ADD_PER_THREAD
#undef ADD_WRAP
}

static void add_checks(list_t *command)
{
#define WRAP(name, ...) to_linker(command, "--wrap=" #name);
    WRAP(memcpy)
    WRAP(memmove)
    WRAP(memset)
    WRAP(mmap)
    WRAP(munmap)
    KMM_LOCK_CALLS(WRAP, WRAP, WRAP, WRAP, WRAP, WRAP, WRAP)
    KMM_TRANSFER_CALLS(WRAP, WRAP)
#undef WRAP
    to_linker(command, "--undefined=__tsan_init"); /* the archive switches the check on */
    /* A weak reference to a wrapped function, as in libstdc++, takes nothing from an archive. */
    to_linker(command, "--undefined=__wrap_pthread_once");
    to_linker(command, "--no-as-needed"); /* the same of libgomp, which gcc names last */
    to_linker(command, "--undefined=kmm__check_heap"); /* libraries, too, allocate by its malloc */
    to_linker(command, "-lkmm_check");
}

/* An object whose constructor runs after the program's, since its archive comes last. By the build
 * id, processes of one program find each other's code. */
static void add_start(list_t *command)
{
    to_linker(command, "--build-id");
    to_linker(command, "--undefined=kmm__start");
    to_linker(command, "-lkmm_start");
}

void link_flags(link_kind_t kind, list_t *command)
{
    const char *folder = install_path("lib");
    list_add(command, arena_printf("-L%s", folder));
    to_linker(command, arena_printf("-rpath=%s", folder));
    if (kind.needs_kmm) /* kmm/linked.h */
        to_linker(command, "--defsym=kmm_program_must_be_linked_by_kmmcc=0");
    add_managed(kind, command);
    if (kind.checks)
        add_checks(command);
    if (kind.needs_kmm && kind.is_program)
        add_start(command);
    if (kind.needs_kmm) {
        to_linker(command, "-lkmm");
    } else {
        to_linker(command, "--push-state");
        to_linker(command, "--as-needed");
        to_linker(command, "-lkmm");
        to_linker(command, "--pop-state");
    }
    if (kind.needs_cxx)
        list_add(command, "-lstdc++");
    if (kind.hosted) {
        list_add(command, "-lm");
        list_add(command, "-lpthread");
    }
}
