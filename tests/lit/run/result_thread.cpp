// RUN: %kmmcc %san -w -O1 %s -o %t
// RUN: for k in id locale handled key; do %not --crash env KMM_CHECK=result KMM_DEVICES=host %t $k || exit 1; done 2>&1 | FileCheck %s
// RUN: for d in host host:3,mem=1M; do env KMM_DEVICES=$d KMM_FRAME=64K %t flags || exit 1; env KMM_CHECK=result KMM_FRAME=64K KMM_DEVICES=$d %t flags || exit 1; done 2>&1 | FileCheck --check-prefix=FLAGS %s
// RUN: %not --crash env KMM_DEVICES=host %t rounds 2>&1 | FileCheck --check-prefix=ROUNDS %s
// RUN: for k in speaks blocks; do %not --crash env KMM_CHECK=result KMM_DEVICES=host %t $k || exit 1; done 2>&1 | FileCheck --check-prefix=LEAVES %s
// What a function finds in its thread, and leaves there. KMM_CHECK=result runs the undivided call in the launching thread, so that it finds what the program without pragmas finds. Floating-point flags come back to the caller.
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <pthread.h>
#include <thread>

enum { N = 5000 };
static int y[N];
static double x[N], z[N];
static pthread_key_t key;
static std::thread::id first;

static void of_thread(int n, int *o)
{
    for (int i = 0; i < n; i++)
        o[i] = std::this_thread::get_id() == first;
}
static void of_locale(int n, int *o)
{
    for (int i = 0; i < n; i++)
        o[i] = uselocale(static_cast<locale_t>(nullptr)) != LC_GLOBAL_LOCALE;
}
static void of_handler(int n, int *o)
{
    for (int i = 0; i < n; i++)
        o[i] = std::current_exception() != nullptr;
}
static void of_key(int n, int *o)
{
    for (int i = 0; i < n; i++)
        o[i] = pthread_getspecific(key) != nullptr;
}
static void divides(int n, double *o, const double *a)
{
    for (int i = 0; i < n; i++)
        o[i] = 1 / a[i];
}
static void rounds(int n, double *o, const double *a)
{
    std::fesetround(FE_UPWARD);
    for (int i = 0; i < n; i++)
        o[i] = 1 / a[i];
}
static void speaks(int n, int *o)
{
    static const locale_t c = newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr));
    uselocale(c);
    for (int i = 0; i < n; i++)
        o[i] = 7;
}
static void blocks(int n, int *o)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
    for (int i = 0; i < n; i++)
        o[i] = 7;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    first = std::this_thread::get_id();
    pthread_key_create(&key, nullptr);
    pthread_setspecific(key, y);
    for (int i = 0; i < N; i++)
        x[i] = i % 1000 == 700 ? 0 : i + 1;
    if (!std::strcmp(what, "id")) {
        // CHECK: result_thread.cpp:[[#@LINE+1]]: of_thread: argument y[i]: its 10 chunks leave another result than the launch as a whole: in element 0, and in 4999 others (0x00000000 for 0x00000001)
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) write(y[i])
        of_thread(N, y);
    }
    if (!std::strcmp(what, "locale")) {
        uselocale(newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr)));
        // CHECK: result_thread.cpp:[[#@LINE+1]]: of_locale: argument y[i]: its 10 chunks leave another result
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) write(y[i])
        of_locale(N, y);
    }
    if (!std::strcmp(what, "handled")) {
        try {
            throw 1;
        } catch (int) {
            // CHECK: result_thread.cpp:[[#@LINE+1]]: of_handler: argument y[i]: its 10 chunks leave another result
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) write(y[i])
            of_handler(N, y);
        }
    }
    if (!std::strcmp(what, "key")) {
        // CHECK: result_thread.cpp:[[#@LINE+1]]: of_key: argument y[i]: its 10 chunks leave another result
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) write(y[i])
        of_key(N, y);
    }
    if (!std::strcmp(what, "flags")) {
        std::feclearexcept(FE_ALL_EXCEPT);
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) read(x[i]) write(z[i])
        divides(N, z, x);
        int zero = std::fetestexcept(FE_DIVBYZERO) != 0, inexact = std::fetestexcept(FE_INEXACT) != 0;
        std::feclearexcept(FE_ALL_EXCEPT);
        for (int i = 0; i < N; i++)
            x[i] = 2;
        std::feclearexcept(FE_ALL_EXCEPT);
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) read(x[i]) write(z[i])
        divides(N, z, x);
        // FLAGS-COUNT-4: zero 1 inexact 1 then 0 and 4
        int none = std::fetestexcept(FE_ALL_EXCEPT);
        x[N - 1] = 0;
        std::feclearexcept(FE_ALL_EXCEPT);
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) read(x[i]) write(z[i]) nowait
        divides(N, z, x);
#pragma kmm wait
        int later = std::fetestexcept(FE_ALL_EXCEPT);
        std::printf("zero %d inexact %d then %x and %x\n", zero, inexact, none, later);
    }
    if (!std::strcmp(what, "rounds")) {
        // ROUNDS: result_thread.cpp:[[#@LINE+1]]: rounds: chunk {{.*}}: the function leaves another direction of rounding, or another state of floating-point numbers, set in its thread, and its caller would not get it; set it back before the function returns
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) read(x[i]) write(z[i])
        rounds(N, z, x);
    }
    if (!std::strcmp(what, "speaks")) {
        // LEAVES: result_thread.cpp:[[#@LINE+1]]: speaks: the function leaves another locale set in its thread, and its caller would not get it; set it back before the function returns
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) write(y[i])
        speaks(N, y);
    }
    if (!std::strcmp(what, "blocks")) {
        // LEAVES: result_thread.cpp:[[#@LINE+1]]: blocks: the function leaves another signal mask set in its thread, and its caller would not get it; set it back before the function returns
#pragma kmm parallel(i = 0:N) rebase(n: i) chunk(500) write(y[i])
        blocks(N, y);
    }
}
