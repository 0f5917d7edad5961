#include <stdio.h>
#include <stdlib.h>

static void set(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] = 1;
}

int main(int argc, char **argv)
{
    static int x[100];
    #pragma kmm parallel(i = 0:100) rebase(n: i) write(x[i])
    set(100, x);
    #pragma kmm wait
    printf("main %d\n", x[99]);
    if (argc > 1)
        abort();
    (void)argv;
    return 0;
}
