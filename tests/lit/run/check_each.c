// -fkmm-check: each load and store of a plain function's chunks is compared with the clauses. A violation names line, element and remedy, once
// for each launch and argument, and the exit status is not 0. Sanitizers have such calls of their own.
// RUN: %if !san %{ %kmmcc -fkmm-check -fno-kmm-compare -w %s -o %t %}
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t carried 2>&1 | FileCheck --check-prefix=CARRIED %s %}
// CARRIED: kmm: error: {{.*}}check_each.c:[[#]]: carried: chunk [[#]] of 4: argument x[i + 1]: check_each.c:[[#]]: the chunk reads element [[#]], which no clause names for this chunk; widen `update(x[i + 1])` (it names elements [[#]] to [[#]], 1 fewer at its lower end), or the range of its axis
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t own 2>&1 | FileCheck --check-prefix=OWN %s %}
// OWN: argument x[i]: check_each.c:[[#]]: the chunk stores to element {{[0-9]+}} (and {{[0-9]+}} more), which no clause names for this chunk
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t leaves 2>&1 | FileCheck --check-prefix=LEAVES %s %}
// LEAVES: argument x[i]: `write` promises to store every element, but the chunk does not store element [[#]] (and 511 more); say `update(x[i])`
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t old 2>&1 | FileCheck --check-prefix=OLD %s %}
// OLD: argument x[i]: check_each.c:[[#]]: the chunk reads element [[#]] (and 1023 more), which it has not stored before: `write` has no old values; say `update(x[i])`
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t copies 2>&1 | FileCheck --check-prefix=COPIES %s %}
// COPIES-DAG: argument x[i]: check_each.c:[[#]]: the chunk stores to element [[#]], which no clause names for this chunk; widen `write(x[i])`
// COPIES-DAG: argument y[i]: check_each.c:[[#]]: the chunk reads element [[#]], which no clause names for this chunk; widen `read(y[i])`
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t store 2>&1 | FileCheck --check-prefix=STORE %s %}
// STORE: argument y[i]: check_each.c:[[#]]: the chunk stores to element [[#]] (and 1023 more), which its clauses let it read only; say `update(y[i])`
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t atomic 2>&1 | FileCheck --check-prefix=ATOMIC %s %}
// ATOMIC: argument s[0:1]: check_each.c:[[#]]: the chunk stores to element 1 (and 1023 more), which no clause names for this chunk; widen `reduce(... s[0:1])`
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t named 2>&1 | FileCheck --check-prefix=NAMED %s %}
// NAMED: check_each.c:[[#]]: the chunk accesses byte [[#]] of {{.*}} by an address that is not one of the launch's arguments
// Variables that all chunks share, also where a pointer leads to the function and kmmcc does not see it: a store is wrong if the chunks leave
// several values there, unless it is atomic, volatile or ordered by a lock. A compare-and-exchange that is not undone is none.
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t counts 2>&1 | FileCheck --check-prefix=COUNTS %s %}
// COUNTS: kmm: error: {{.*}}check_each.c:[[#]]: shared: chunk [[#]] of 4: check_each.c:[[#]]: {{the|another}} chunk stores to the global variable 'count', which all chunks share, and they run at once and in any order; make it a parameter that a clause names, or atomic
// COUNTS-NOT: stores to the global variable
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t keeps 2>&1 | FileCheck --check-prefix=KEEPS %s %}
// KEEPS: check_each.c:[[#]]: {{the|another}} chunk stores to the global variable 'seed', which
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t calls 2>&1 | FileCheck --check-prefix=CALLS %s %}
// CALLS: check_each.c:[[#]]: {{the|another}} chunk stores to the global variable 'pair', which
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 KMM_ON_ERROR=continue %not %t calls 2>&1 | FileCheck --check-prefix=CALLS %s %}
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t swaps 2>&1 | FileCheck --check-prefix=SWAPS %s %}
// SWAPS: check_each.c:[[#]]: {{the|another}} chunk stores to the global variable 'total', which
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t unlocks 2>&1 | FileCheck --check-prefix=SWAPS %s %}
// Locks order what has the same lock, and no readers.
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t stripes 2>&1 | FileCheck --check-prefix=SWAPS %s %}
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t readers 2>&1 | FileCheck --check-prefix=SWAPS %s %}
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t several 2>&1 | FileCheck --check-prefix=SWAPS %s %}
// One chunk stores, and others have read what was there before.
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t marks 2>&1 | FileCheck --check-prefix=MARKS %s %}
// MARKS: check_each.c:[[#]]: {{the|another}} chunk stores to the global variable 'writes', which
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t heap 2>&1 | FileCheck --check-prefix=HEAP %s %}
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not timeout 60 %t wide 2>&1 | FileCheck --check-prefix=WIDE %s %}
// WIDE: {{the|another}} chunk stores to memory that no clause names
// WIDE-NOT: memory that no clause names, at {{.*}}; make it
// WIDE: as -fkmm-check has said on standard error
// HEAP: shared: chunk [[#]] of 4: check_each.c:[[#]]: {{the|another}} chunk stores to memory that no clause names, at 0x{{[0-9a-f]+}}, allocated before the launch or by another thread, which all chunks share, and they run at once and in any order; make it a parameter that a clause names, or atomic
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t once 2>&1 | FileCheck --check-prefix=ONCE %s %}
// ONCE: {{the|another}} chunk stores to memory that no clause names, at 0x{{[0-9a-f]+}}, which another chunk has allocated, which
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t stack 2>&1 | FileCheck --check-prefix=STACK %s %}
// STACK: {{the|another}} chunk stores to memory that no clause names, at 0x{{[0-9a-f]+}}, on the stack of the main thread, which
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t proper 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RUN: %if !san %{ %t proper 2>&1 | FileCheck --check-prefix=RIGHT %s %}
//
// A chunk reads what another one stores, each by an item that allows it.
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t shifted 2>&1 | FileCheck --check-prefix=SHIFTED %s %}
// SHIFTED: kmm: error: {{.*}}check_each.c:[[#]]: right: chunk [[#]] of 4: argument {{p|q}}[i]: the chunk {{reads|stores to}} element {{[0-9]+}}, which chunk {{[0-9]+}} {{reads|stores}}, and chunks run at once and in any order; store to another array, or call it without the pragma
// Of several items in one array, a message names the one whose elements begin nearest in front of what is accessed.
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t halves 2>&1 | FileCheck --check-prefix=HALVES %s %}
// HALVES: argument high[i]: check_each.c:[[#]]: the chunk reads element {{512|1024|1536|2048}}, which no clause names for this chunk
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 KMM_ON_ERROR=continue %not %t shifted 2>&1 | FileCheck --check-prefix=SHIFTED %s %}
//
// What a launch with nowait stores may not be read before its wait, nor what it uses be stored to.
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t early 2>&1 | FileCheck --check-prefix=EARLY %s %}
// EARLY: check_each.c:[[#]]: the host reads byte [[#]] of memory that a launch with nowait stores to; say `#pragma kmm wait` before
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t spoils 2>&1 | FileCheck --check-prefix=SPOILS %s %}
// SPOILS: check_each.c:[[#]]: the host stores to byte [[#]] of memory that a launch with nowait uses; say `#pragma kmm wait` before
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t later 2>&1 | FileCheck --check-prefix=EARLY %s %}
// RUN: %if !san %{ env KMM_ON_ERROR=continue %not %t again 2>&1 | FileCheck --check-prefix=EARLY %s %}
// RUN: %if !san %{ %t waits 2>&1 | FileCheck --check-prefix=RIGHT %s %}
//
// RUN: %if !san %{ %t right 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RIGHT-NOT: kmm:
// RIGHT: done 6142
//
// On devices with memory of their own, too; and a violation that KMM_CHECK=access finds without the option says that there is more.
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 KMM_ON_ERROR=continue %not %t carried 2>&1 | FileCheck --check-prefix=CARRIED %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 KMM_ON_ERROR=continue %not %t old 2>&1 | FileCheck --check-prefix=OLD %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t right 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RUN: %if !san %{ %kmmcc -fno-kmm-compare -w %s -o %t.plain && env KMM_CHECK=access KMM_ON_ERROR=continue %not %t.plain store 2>&1 | FileCheck --check-prefix=NOTE %s %}
// NOTE: kmm: note: KMM_CHECK=access sees stores that change a value; in a program compiled with `kmmcc -fkmm-check` it sees every load and store
// Two parameters that lead into one array: without a check of each access, libkmm compares what the clauses name.
// RUN: %if !san %{ %t.plain shifted 2>&1 | FileCheck --check-prefix=TWO %s %}
// RUN: %if !san %{ env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t.plain shifted 2>&1 | FileCheck --check-prefix=TWO %s %}
// TWO: kmm: warning: {{.*}}check_each.c:[[#]]: right: chunk 0 of 4: argument q[i]: another chunk of this launch writes the same elements as p[i], and chunks run in any order, so results may differ from those of one call [crossed]
// TWO-NOT: kmm:
// RUN: %if !san %{ %t.plain swapped 2>&1 | FileCheck --check-prefix=RIGHT %s %}
// RUN: %if !san %{ env KMM_CHECK=access %t.plain right 2>&1 | FileCheck --check-prefix=RIGHT %s %}
//
// In two steps, and what the flags are.
// RUN: %if !san %{ %kmmcc -fkmm-check -fno-kmm-compare -w -c %s -o %t.o && %kmmcc -fkmm-check %t.o -o %t.two && env KMM_ON_ERROR=continue %not %t.two old 2>&1 | FileCheck --check-prefix=OLD %s %}
// RUN: %kmmcc -fkmm-check -w -c %s -### 2>&1 | FileCheck --check-prefix=FLAGS %s
// FLAGS: -fsanitize=thread
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 4096 };
static int x[N + 1], y[N + 1], table[N], s[4];
static void carried(long n, int *a) { for (long i = 0; i < n; i++) a[i] = a[i - 1] + 1; }
static void own(long n, int *a) { static long at; for (long i = 0; i < n; i++) a[at++] = 1; }
static void leaves(long n, int *a) { for (long i = 0; i < n; i++) if (i % 2) a[i] = 1; }
static void old(long n, int *a) { for (long i = 0; i < n; i++) a[i] = a[i] + 1; }
static void copies(long n, int *to, const int *from) { memcpy(to, from, (n + 1) * sizeof(int)); }
static void store(long n, int *a, const int *b) { int *volatile c = (int *)b; for (long i = 0; i < n; i++) { a[i] = b[i]; c[i] = 0; } }
static void atomic(long n, int *sum) { for (long i = 0; i < n; i++) __atomic_fetch_add(&sum[1], 1, __ATOMIC_RELAXED); }
static void right(long n, int *to, const int *from) { for (long i = 0; i < n; i++) to[i] = 2 * from[i]; }
static const int *hidden = table;
static void named(long n, int *to) { for (long i = 0; i < n; i++) to[i] = hidden[i]; }
static int *spare, count, ready, found, squares[16], grid[64][64];
static struct pair { int a, b; } pair;
static long total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic long sum;
static volatile int seen;
static void counts(long n, int *to, const int *from) { for (long i = 0; i < n; i++) { to[i] = 2 * from[i]; if (i % 3 == 0) count++; } }
static void keeps(long n, int *to, const int *from) { static unsigned seed = 1; for (long i = 0; i < n; i++) to[i] = 2 * from[i] + (seed = seed * 1664525 + 1) % 3; }
static void calls(long n, int *to, const int *from) { pair.b += (int)n; for (long i = 0; i < n; i++) to[i] = 2 * from[i]; }
static long *state, *outer;
static int *room;
static _Atomic double real;
static atomic_uint next, serving, word, done;
static void swaps(long n, int *to, const int *from) { double old = real; while (!atomic_compare_exchange_weak(&real, &old, old + n)) ; for (long i = 0; i < n; i++) { to[i] = 2 * from[i]; total += from[i]; } }
static void unlocks(long n, int *to, const int *from) { pthread_mutex_lock(&mutex); total += n; pthread_mutex_unlock(&mutex); for (long i = 0; i < n; i++) { to[i] = 2 * from[i]; total++; } }
static pthread_mutex_t stripe[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t shelf = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static sem_t three;
/* The chunks meet within their locks: a race is there in each run. */
static _Atomic int meeting;
static void meet(void) { meeting++; for (int k = 0; k < 1000000 && meeting < 2; k++) sched_yield(); }
static void stripes(long n, int *to, const int *from) { pthread_mutex_t *m = &stripe[from[0] / 1024 % 4]; pthread_mutex_lock(m); meet(); for (long i = 0; i < n; i++) { to[i] = 2 * from[i]; total++; } pthread_mutex_unlock(m); }
static void readers(long n, int *to, const int *from) { pthread_rwlock_rdlock(&shelf); meet(); for (long i = 0; i < n; i++) { to[i] = 2 * from[i]; total++; } pthread_rwlock_unlock(&shelf); }
static void several(long n, int *to, const int *from) { sem_wait(&three); meet(); for (long i = 0; i < n; i++) { to[i] = 2 * from[i]; total++; } sem_post(&three); }
static void heap(long n, int *to, const int *from) { for (long i = 0; i < n; i++) { to[i] = 2 * from[i]; state[1]++; } }
static void wide(long n, int *to, const int *from) { for (long i = 0; i < n; i++) to[i] = 2 * from[i]; for (long i = 0; i < 100000; i++) room[i] = from[0] * 0x01010101 + 1; }
static void evens(long n, int *to, const int *from) { for (long i = 0; i < n; i++) to[2 * i] = from[2 * i]; }
static void slides(long n, int *to, const int *from) { for (long i = 0; i < n; i++) to[i] = to[i + 1] + from[i]; }
static void stack(long n, int *to, const int *from) { for (long i = 0; i < n; i++) { to[i] = 2 * from[i]; ++*outer; } }
static void allocate(void) { state = calloc(2, sizeof(*state)); }
static void once_each(long n, int *to, const int *from) { static pthread_once_t own_once = PTHREAD_ONCE_INIT; pthread_once(&own_once, allocate); heap(n, to, from); }
static long writes, by[5]; /* each element under another lock */
/* A chunk has read before the first one stores, and nothing orders that. */
static _Atomic int looked;
static void marks(long n, int *to, const int *from) { long old = writes; atomic_fetch_add_explicit(&looked, 1, memory_order_relaxed); for (int k = 0; k < 1000000 && atomic_load_explicit(&looked, memory_order_relaxed) < 2; k++) sched_yield(); if (from[0] == 0) writes = 1; for (long i = 0; i < n; i++) to[i] = 2 * from[i] + old; }
static int busy, checked;
static sem_t one;
static void start(void) { for (int k = 0; k < 5; k++) total += k; }
static void proper(long n, int *to, const int *from)
{
    pthread_once(&once, start);
    if (!ready) {
        for (int k = 0; k < 16; k++) squares[k] = k * k;
        ready = 1;
    }
    for (long i = 0; i < n; i++) {
        to[i] = 2 * from[i] + squares[0];
        if (from[i] % 100 == 7) found = 1;
        sum += from[i];
        seen++;
    }
    pthread_mutex_lock(&mutex);
    total += n;
    total += from[0];
    pthread_mutex_unlock(&mutex);
    while (atomic_flag_test_and_set(&flag))
        ;
    by[0] += n;
    by[0] -= from[0];
    atomic_flag_clear(&flag);
    /* a value that is looked at once more under the lock */
    if (!checked) {
        pthread_mutex_lock(&mutex);
        if (!checked)
            checked = 1;
        pthread_mutex_unlock(&mutex);
    }
    /* readers and writers, a condition, and a semaphore that lets one in */
    pthread_rwlock_rdlock(&shelf);
    long before = writes;
    pthread_rwlock_unlock(&shelf);
    pthread_rwlock_wrlock(&shelf);
    writes += before >= 0;
    pthread_rwlock_unlock(&shelf);
    pthread_mutex_lock(&mutex);
    while (busy)
        pthread_cond_wait(&turned, &mutex);
    busy = 1;
    pthread_mutex_unlock(&mutex);
    by[1] += n - from[2];
    by[1] -= n - from[2];
    pthread_mutex_lock(&mutex);
    busy = 0;
    pthread_cond_signal(&turned);
    pthread_mutex_unlock(&mutex);
    sem_wait(&one);
    by[2]++;
    sem_post(&one);
    /* a ticket lock, and one by bits */
    unsigned mine = atomic_fetch_add(&next, 1);
    while (atomic_load(&serving) != mine)
        ;
    by[3] += n + from[1];
    by[3] -= n + from[1];
    atomic_fetch_add(&serving, 1);
    while (atomic_fetch_or(&word, 1) & 1)
        ;
    by[4] += n + from[1];
    by[4] -= n + from[1];
    atomic_fetch_and(&word, ~1U);
    /* each chunk has an element of its own, and the last one adds all of them */
    for (long i = 0; i < n; i++) state[mine] += from[i];
    if (atomic_fetch_add(&done, 1) == 3)
        *outer = state[0] + state[1] + state[2] + state[3];
    /* what the chunk allocates, what its thread keeps, and what chunks hand on */
    static _Thread_local int *kept;
    if (!kept) kept = malloc(1024 * sizeof(int));
    int *room = malloc(n * sizeof(int)), *handed;
    for (long i = 0; i < n; i++) room[i] = kept[i] = from[i];
    pthread_mutex_lock(&mutex);
    handed = spare ? spare : calloc(4, sizeof(int));
    spare = NULL;
    pthread_mutex_unlock(&mutex);
    for (long i = 0; i < n; i++) handed[i % 4] += room[i] + kept[i];
    free(room);
    pthread_mutex_lock(&mutex);
    spare = handed;
    pthread_mutex_unlock(&mutex);
}
static void (*volatile called)(long, int *, const int *);
static void shared(long n, int *to, const int *from) { called(n, to, from); }
static void columns(long lo, long hi, int (*a)[64]) { for (int r = 0; r < 64; r++) for (long k = lo; k < hi; k++) a[r][k] = r; }
static const struct { const char *name; void (*f)(long, int *, const int *); } functions[] = {{"counts", counts}, {"keeps", keeps}, {"calls", calls}, {"proper", proper}, {"swaps", swaps}, {"unlocks", unlocks}, {"marks", marks}, {"stripes", stripes}, {"readers", readers}, {"several", several}, {"heap", heap}, {"wide", wide}, {"stack", stack}, {"once", once_each}};
int main(int c, char **v)
{
    volatile int out = 0;
    for (int i = 0; i < N; i++) y[i] = i;
    long local = 0;
    outer = &local;
    sem_init(&three, 0, 3);
    sem_init(&one, 0, 1);
    if (c > 1 && !strcmp(v[1], "wide")) room = calloc(100000, sizeof(*room));
    if (c > 1 && strcmp(v[1], "once")) state = calloc(4, sizeof(*state));
    for (size_t k = 0; k < sizeof(functions) / sizeof(*functions); k++)
        if (c > 1 && !strcmp(v[1], functions[k].name)) {
            called = functions[k].f;
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i]) read(y[i])
            shared(N, x, y);
            printf("done %d %d\n", x[3071], found + (total + by[0] != 2 * N + 10) + (sum != N * (N - 1L) / 2) + (local != sum));
            return 0;
        }
    if (c < 2) return 1;
    if (!strcmp(v[1], "shifted")) {
        int *p = y, *q = y + 1;
#pragma kmm parallel(i = 0:2048) chunk(512) rebase(n: i) write(p[i]) read(q[i])
        right(2048, p, q);
    } else if (!strcmp(v[1], "swapped")) { /* each chunk reads what it writes itself, or what none writes */
        int *p = y, *q = y, *far = y + 2048;
#pragma kmm parallel(i = 0:2048) chunk(512) rebase(n: i) write(p[i]) read(q[i])
        right(2048, p, q);
#pragma kmm parallel(i = 0:2048) chunk(512) rebase(n: i) write(p[i]) read(far[i])
        right(2048, p, far);
#pragma kmm parallel(i = 0:1024) chunk(256) rebase(n: i) write(p[2 * i]) read((q + 1)[2 * i])
        evens(1024, p, q + 1);
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i]) read(table[i])
        right(N, x, table);
        x[3071] = 6142;
    } else if (!strcmp(v[1], "halves")) {
        int *low = table, *high = table + 2047;
#pragma kmm parallel(i = 0:2047) chunk(512) rebase(n: i) update(high[i]) read(low[i])
        slides(2047, high, low);
    } else if (!strcmp(v[1], "early") || !strcmp(v[1], "spoils") || !strcmp(v[1], "later") || !strcmp(v[1], "again")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i]) read(y[i]) nowait
        right(N, x, y);
        if (!strcmp(v[1], "early")) out = x[5];
        if (!strcmp(v[1], "spoils")) y[5] = out;
        if (!strcmp(v[1], "again")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) update(y[i]) nowait
            old(N, y);
            out = y[5];
        }
        if (!strcmp(v[1], "later")) {
            out = x[5];
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) update(x[i])
            old(N, x);
        }
#pragma kmm wait
        out += x[5];
    } else if (!strcmp(v[1], "waits")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i]) read(y[i]) nowait
        right(N, x, y);
#pragma kmm parallel(k = 0:32) chunk(8) rebase(lo: begin(k), hi: end(k)) write(grid[0:64][k]) nowait
        columns(0, 32, grid);
        out = y[5] + table[3]++ + grid[2][40];
        int *low = table, *high = table + 2048;
#pragma kmm parallel(i = 0:2048) chunk(512) rebase(n: i) write(low[i]) read(high[i - 1000:2000])
        right(2048, low, high);
        grid[3][50] = 1;
#pragma kmm wait(x)
        out += x[5];
        x[6] = out - out + 12;
#pragma kmm wait
        out += grid[3][3];
    } else if (!strcmp(v[1], "carried")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) update(x[i + 1])
        carried(N, x + 1);
    } else if (!strcmp(v[1], "own")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i])
        own(N, x);
    } else if (!strcmp(v[1], "leaves")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i])
        leaves(N, x);
    } else if (!strcmp(v[1], "old")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i])
        old(N, x);
    } else if (!strcmp(v[1], "copies")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i]) read(y[i])
        copies(N, x, y);
    } else if (!strcmp(v[1], "store")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i]) read(y[i])
        store(N, x, y);
    } else if (!strcmp(v[1], "atomic")) {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) reduce(+: s[0:1])
        atomic(N, s);
    } else if (!strcmp(v[1], "named")) {
#pragma kmm data map(tofrom: table)
        {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i])
            named(N, x);
        }
    } else {
#pragma kmm parallel(i = 0:N) chunk(1024) rebase(n: i) write(x[i]) read(y[i])
        right(N, x, y);
    }
    printf("done %d\n", x[3071]);
}
