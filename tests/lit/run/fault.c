// A fault in a chunk of a plain function, or in a task: launch, line, chunk, and the array nearest to the address. Then the process ends as it
// would have. Sanitizers have handlers of their own.
// RUN: %if !san %{ %kmmcc -O1 -w %s -o %t %}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 far | FileCheck --check-prefix=FAR %s %}
// FAR: kmm: error: {{.*}}fault.c:[[#]]: work: chunk 2 of 4 (indices 2048 to 3071): {{a write to|an access to}} 0x{{[0-9a-f]+}} faulted with SIGSEGV: it is {{[0-9]+}} bytes {{before|behind the end of}} the array of x[i], which has 16384 bytes at 0x
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 next | FileCheck --check-prefix=NEXT %s %}
// NEXT: work: chunk 2 of 4 (indices 2048 to 3071): {{a read of|an access to}} 0x{{[0-9a-f]+}} faulted with SIGSEGV: it is just behind the end of the array of x[i], which has 16384 bytes at 0x
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 before | FileCheck --check-prefix=BEFORE %s %}
// BEFORE: work: chunk 2 of 4 (indices 2048 to 3071): {{.*}}: it is 4 bytes before the array of x[i], which has 16384 bytes at 0x
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 null | FileCheck --check-prefix=NULL %s %}
// NULL: work: chunk 2 of 4{{.*}} {{a write to|an access to}} 0x8 faulted with SIGSEGV: it is 8 bytes behind a null pointer
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 wild | FileCheck --check-prefix=WILD %s %}
// WILD: work: chunk 2 of 4{{.*}} {{an access faulted with SIGSEGV: its address is outside of the address space|a.* 0x.* faulted with SIGSEGV}}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 protected | FileCheck --check-prefix=PROTECTED %s %}
// PROTECTED: work: chunk 2 of 4{{.*}}: it is byte 8192 (element 2048) of the array of x[i], which has 16384 bytes at 0x{{[0-9a-f]+}}; its memory is protected
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 unnamed | FileCheck --check-prefix=UNNAMED %s %}
// UNNAMED: work: chunk 2 of 4{{.*}}: it is byte 400 (element 100) of the array of x[i], which has 16384 bytes at 0x{{[0-9a-f]+}}, and no clause of the launch names it for this chunk
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 135 bus | FileCheck --check-prefix=BUS %s %}
// BUS: work: chunk 2 of 4{{.*}} faulted with SIGBUS: it is byte 8192 (element 2048) of the array of x[i], which has 16384 bytes at 0x{{[0-9a-f]+}}; there is no memory for it, as behind the end of a mapped file
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 deep | FileCheck --check-prefix=DEEP %s %}
// DEEP: work: chunk 2 of 4{{.*}}: it is just beyond the thread's stack, which is full
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 call | FileCheck --check-prefix=CALL %s %}
// CALL: work: chunk 2 of 4{{.*}} 0x0 faulted with SIGSEGV: it is a null pointer
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 task | FileCheck --check-prefix=TASK %s %}
// TASK: kmm: error: {{.*}}fault.c:[[#]]: task: {{.*}} faulted with SIGSEGV: it is just behind the end of the array of x[0:N], which has 16384 bytes at 0x
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 every | FileCheck --check-prefix=EVERY %s %}
// EVERY-COUNT-1: kmm: error: {{.*}}: work: chunk {{[0-3]}} of 4
// EVERY-NOT: kmm:
//
// The program's own handlers, before and behind libkmm's; a signal that was sent; a fault outside of chunks.
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 3 own | FileCheck --check-prefix=OWN %s %}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 3 action | FileCheck --check-prefix=OWN %s %}
// OWN: kmm: note: {{.*}}work: chunk 2 of 4{{.*}} faulted with SIGSEGV
// OWN-NEXT: the program's handler
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 3 later | FileCheck --check-prefix=LATER %s %}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 3 outside | FileCheck --check-prefix=LATER %s %}
// LATER-NOT: kmm:
// LATER: the program's handler
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 0 mended | FileCheck --check-prefix=MENDED %s %}
// MENDED: done
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 sent | FileCheck --check-prefix=SILENT --allow-empty %s %}
// RUN: %if !san %{ sh %S/Inputs/faults.sh %t 139 host | FileCheck --check-prefix=SILENT --allow-empty %s %}
// SILENT-NOT: kmm:
//
// Under KMM_CHECK=access chunks work on copies of their arrays.
// RUN: %if !san %{ env KMM_CHECK=access sh %S/Inputs/faults.sh %t 139 null | FileCheck --check-prefix=NULL %s %}
// RUN: %if !san %{ env KMM_CHECK=access sh %S/Inputs/faults.sh %t 139 far | FileCheck --check-prefix=FAR %s %}
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES = 4, N = PAGES * PAGE / sizeof(float), FAULTY = N / 2 };
static const char *how;
static float *volatile null;
static void (*volatile nothing)(void);
static char *volatile protected_page;

static int is(const char *what) { return strcmp(how, what) == 0; }

static int deep(volatile char *above)
{
    volatile char here[4096];
    here[0] = above ? above[0] : 1;
    return deep(here) + here[0];
}

static void own(int number)
{
    static const char text[] = "the program's handler\n";
    if (number && write(2, text, sizeof(text) - 1) > 0)
        _exit(3);
}

static void own_action(int number, siginfo_t *info, void *context)
{
    own(context ? info->si_signo : 0);
}

static void mend(int number)
{
    if (mprotect(protected_page, PAGE, PROT_READ | PROT_WRITE))
        _exit(1);
}

static void fault(float *x)
{
    volatile float *v = x;
    if (is("far"))
        v[-(1ll << 36)] = 1;
    if (is("next"))
        v[0] = v[N];
    if (is("before"))
        v[-1] = 1;
    if (is("wild"))
        *(volatile float *)((uintptr_t)1 << 62 | (uintptr_t)x) = 1;
    if (is("unnamed"))
        v[100] = 1;
    if (is("deep"))
        v[0] = deep(NULL);
    if (is("call"))
        nothing();
    if (is("null") || is("own") || is("action") || is("later") || is("every"))
        null[2] = 1;
    if (is("protected") || is("bus") || is("mended"))
        v[FAULTY] = 1;
}

static void work(int lo, int hi, float *x)
{
    if (lo == FAULTY || is("every"))
        fault(x);
}

/* Pages with nothing before and behind them. */
static float *lonely(int file)
{
    char *p = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    return mmap(p + PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_FIXED | flags, file, 0);
}

static float *prepare(void)
{
    FILE *f = is("bus") ? tmpfile() : NULL;
    if (f && ftruncate(fileno(f), FAULTY * sizeof(float)))
        exit(1);
    float *x = lonely(f ? fileno(f) : -1);
    protected_page = (char *)(x + FAULTY);
    if (is("protected") || is("mended"))
        mprotect(protected_page, PAGE, PROT_READ);
    if (is("unnamed"))
        mprotect(x, PAGE, PROT_NONE);
    return x;
}

int main(int argc, char **argv)
{
    static float y[N];
    struct sigaction action = {.sa_sigaction = own_action, .sa_flags = SA_SIGINFO};
    how = argc > 1 ? argv[1] : "";
    if (is("own") || is("outside"))
        signal(SIGSEGV, own);
    if (is("action"))
        sigaction(SIGSEGV, &action, NULL);
    if (is("mended"))
        signal(SIGSEGV, mend);
    how = ""; /* the first launch makes libkmm's handler, and does nothing */
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(lo: begin(i), hi: end(i)) update(y[i])
    work(0, N, y);
    how = argc > 1 ? argv[1] : "";
    float *x = prepare();
    if (is("later"))
        signal(SIGSEGV, own);
    if (is("sent"))
        kill(getpid(), SIGSEGV);
    if (is("host") || is("outside"))
        null[2] = 1;
    if (is("task")) {
#pragma kmm task update(x[0:N])
        { x[N] = 1; }
    }
#pragma kmm parallel(i = 0:N) chunk(N / 4) rebase(lo: begin(i), hi: end(i)) update(x[i])
    work(0, N, x);
    fprintf(stderr, "done\n");
    return 0;
}
