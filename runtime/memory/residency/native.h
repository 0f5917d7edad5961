/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native standing: as long as all arrays of a program fit, the program runs as CUDA would run it.
 *
 * A process has one standing.
 *
 *   UNDECIDED --> NATIVE --> DOOMED --> MANAGED <--> RETURNING --> NATIVE
 *       |            |                     ^ ^
 *       |            +---------------------+ |
 *       +------------------------------------+
 *
 *   UNDECIDED  nothing was asked yet
 *   NATIVE     each array is mapped at its name, on its device, and nowhere else. The program's
 *              calls go to the driver, on the program's streams. libkmm does not see what they do.
 *   DOOMED     an array did not fit. The next native call takes over
 *   MANAGED    frames are mapped in windows, where chunks need them. Nothing is mapped at a name
 *   RETURNING  a thread finds out whether the standing can be native again, brings all arrays to
 * the GPU, and moves them to their names. All others wait
 *
 * Taking over moves the frames of all arrays from their names to windows, and notes that each
 * array's device holds all of it. It waits until no thread is inside a native call and until the
 * device has done all its work. cudaMalloc never takes over, since work that runs may wait for its
 * caller.
 */
#ifndef KMM__MEMORY_RESIDENCY_NATIVE_H
#define KMM__MEMORY_RESIDENCY_NATIVE_H

#include "memory/state.h"

/* ---- Not locked ---- */
/* Decides on the standing, if that was not done before: native if all conditions hold, which are
 * that all devices of the runtime are GPUs of that kind which can map memory, that nothing checks
 * accesses, and that the user has not said among how many GPUs launches are divided. */
void kmm__native_start(kmm_runtime_t *rt, kmm_kind_t kind);

/* Called before that: the standing is managed, whatever the conditions. */
void kmm__native_forbid(void);

/* Enters a native call. False: the standing is not native; it may have been until now. */
bool kmm__native_enter(kmm_kind_t kind);
void kmm__native_leave(void);
bool kmm__native_is(kmm_kind_t kind); /* true if the standing is native */
bool kmm__native_is_undecided(void);

/* The GPU with this ordinal is the calling thread's current one from now on. Before the first call
 * that is 0. As soon as a thread makes a native call on another GPU than the one with the first
 * array, the program uses several: all GPUs get access to all arrays, or, where the driver cannot
 * do that, the standing ends. */
void kmm__native_device(int ordinal);
bool kmm__native_uses_several(void);
/* The program uses several GPUs from now on. Does nothing in another standing. */
void kmm__native_use_several(kmm_kind_t kind);
/* Notes that the program makes calls that managed standing refuses. */
void kmm__native_stay(void);
/* False if the standing should end only where arrays do not fit: the program has made calls that
 * managed standing refuses, has bound the standing, or uses several GPUs by itself. */
bool kmm__native_may_end(void);
/* The number of native calls of all threads so far, without launches; and of their launches without
 * a pragma. Both only grow. */
void kmm__native_count(uint64_t *calls, uint64_t *launches);
/* Counts one native call, or the launch of one. Called inside of the call. */
void kmm__native_count_call(bool is_launch);
/* `call` is called when the standing ends, after all work on the GPUs. It calls nothing that waits
 * for libkmm. The same function is added once. */
void kmm__native_at_end(void (*call)(void));

/* Makes the standing managed, for `rt` to do what `what` says. Does nothing if it is managed, or if
 * it is another runtime's that is native. KMM_E_STATE: it was bound to be native. */
int kmm__native_end(kmm_runtime_t *rt, const char *what);
/* The same, but the next native call does it. KMM_E_MEMORY: it was bound to be native. */
int kmm__native_doom(kmm_runtime_t *rt, const char *what);
/* Begins a call that works on arrays in managed standing: makes it managed as kmm__native_end does,
 * and lets it not become native until kmm__native_hold_end. If `what` is NULL, it may be any
 * standing. *holds is false, and is set if it holds. Calls may nest. */
int kmm__native_hold(kmm_runtime_t *rt, const char *what, bool *holds);
void kmm__native_hold_end(const bool *holds);
/* The same until the end of the block. Declares `error`. */
#define KMM__NATIVE_HOLD(error, rt, what)                                                          \
    __attribute__((cleanup(kmm__native_hold_end))) bool kmm__holds = false;                        \
    int error = kmm__native_hold(rt, what, &kmm__holds)

/* Makes the standing native again, if it was native before, no work is under way, no thread holds
 * managed standing, and some time has passed, which doubles each time. There are no arrays, or
 * gather is not NULL, the process uses one GPU, and all arrays fit there at their names. gather is
 * called with the runtime's lock and may unlock: it brings all arrays to the GPU. 0: it has. */
bool kmm__native_return(kmm_kind_t kind, int (*gather)(kmm_runtime_t *rt));
/* False: kmm__native_return would return false now; or has with arrays a short while ago. */
bool kmm__native_may_return(void);
bool kmm__native_may_move(void);
kmm_kind_t kmm__native_kind(void); /* of a standing that was native */
/* Locked: returns the GPU on which an array of that size, which is made in managed standing, may
 * get memory at its name later; NULL: there is none. */
kmm__device_t *kmm__native_home(const kmm_runtime_t *rt, size_t bytes);
bool kmm__native_has_returned(void); /* true if the standing has become native again before */
/* In native standing: waits until all work on the runtime's GPU has ended. Returns its error, if
 * nobody was told of one before. */
int kmm__native_finish(kmm_runtime_t *rt);
/* True in native standing, if no launch with a pragma was noted: then the program's end waits for
 * nothing, as with plain CUDA. */
bool kmm__native_is_plain(const kmm_runtime_t *rt);
/* Notes a launch with a pragma, for kmm__native_fault. The texts live as long as the process. */
void kmm__native_note(const char *file, int line, const char *kernel);
/* Says once that the GPU has failed, and after which launches. The program is told of it now. */
void kmm__native_fault(int error);
/* The standing cannot end any more, because of `what`: the driver has recorded addresses of arrays
 * there. `what` is static text. */
void kmm__native_bind(const char *what);
bool kmm__native_is_bound(void);

/* Makes an array that is mapped at its name, on the GPU d, which is current. Called inside a native
 * call. KMM_E_MEMORY: it does not fit. Then the next native call takes over. */
int kmm__native_array_new(kmm_runtime_t *rt, kmm__device_t *d, size_t bytes, void **out);
/* Frees the array with this base. Called inside a native call, when all work on the array is done
 * on the current GPU; waits for the others if the program uses several. False: there is none. */
bool kmm__native_array_free(kmm_runtime_t *rt, void *base);

#endif
