/* Included once for each K and each function of that NAME, within functions, classes, namespaces. */
static int NAME(int *x)
{
    #pragma kmm parallel(i = 0:1000) chunk(77) rebase(n: i) update(x[i])
    add(1000, K + __LINE__, x);
#include "statements.h"
    return x[999] + (int)sizeof(__FILE__);
}
