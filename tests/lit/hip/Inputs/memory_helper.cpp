// Memory that another file allocates, as a pointer, in a struct, and somewhere within an array.
#include "memory_helper.h"

#include <hip/hip_runtime.h>

int *make_array(int n, int value)
{
    int *p = nullptr;
    hipMalloc((void **)&p, n * sizeof(int));
    hipMemset(p, value, n * sizeof(int));
    return p;
}

parts make_parts(int n)
{
    parts p = {make_array(n, 0), {make_array(n, 0), n}};
    return p;
}

int *middle_of(const parts &p) { return p.inner.to + p.inner.n / 2; }
