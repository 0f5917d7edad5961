// RUN: %not %kmmcc -fsyntax-only %s 2>&1 | FileCheck %s --implicit-check-not=error: --implicit-check-not=warning:
// A launch that does not wait must not outlive an array on the stack.
#include <string.h>
static void inc(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i]++;
}
static int all[1000];
void waits(void);
void f(int *p)
{
    int x[1000];
    static int kept[1000];
    memset(x, 0, sizeof x);
    // CHECK: nowait.c:[[#@LINE+1]]:69: error: the launch may still run when 'f' returns, and 'x' is on its stack; add '#pragma kmm wait' behind the launch, or leave out nowait
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i]) nowait
    inc(1000, x);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(all[i]) nowait
    inc(1000, all);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(kept[i]) nowait
    inc(1000, kept);
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(p[i]) nowait
    inc(1000, p);
    memset(kept, 0, 0);
}
void waited(void)
{
    int x[1000] = {0};
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i]) nowait
    inc(1000, x);
    #pragma kmm wait
}
void elsewhere(void)
{
    int x[1000] = {0};
    #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i]) nowait
    inc(1000, x);
    waits();
}
void mapped(void)
{
    int x[1000] = {0};
    #pragma kmm data map(tofrom: x)
    {
        #pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i]) nowait
        inc(1000, x);
    }
}
