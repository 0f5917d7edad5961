// RUN: %kmmcc --target=host --emit-source %s | FileCheck %s
// RUN: %kmmcc --target=cuda --emit-source %s | FileCheck %s
// The code of a kernel in a header is seen, although the bodies of headers are mostly skipped.
#include <cuda_runtime.h>
#include "Inputs/fill.h"

void launch(double *d)
{
    // CHECK: #pragma kmm parallel(x: global.x = 0:1000) chunk(100) write(d[x]) bounded
    #pragma kmm parallel chunk(100)
    fill<<<4, 256>>>(d, 1000);
}
