// A variable that kmm does not have, and a value that says nothing, is a warning, once; the program runs as it would without.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: env KMM_DEVICE=host KMM_HOSTMEM=64M KMM_STAGE_BYTES=1M KMM_STAGE_THREADS=two KMM_STATS=no KMM_ON_ERROR=ue KMM_NUMA=off KMM_TEST_X=1 %t > %t.out 2> %t.err
// RUN: FileCheck %s < %t.out
// RUN: sort %t.err | FileCheck --check-prefix=WARN %s
// RUN: env KMM_FRAME=0 KMM_DEVICE_MEM=0K KMM_DEVICE_KEEP_FREE=0.5 KMM_HOST_MEM=0 KMM_SPILL_DIR=/dev/null/x KMM_SPILL_IO=pread,foo KMM_STAGE_BYTES=0 KMM_STAGE_THREADS=-1 KMM_CACHE_MAX=0 %t > %t.out 2> %t.err
// RUN: FileCheck %s < %t.out
// RUN: sort %t.err | FileCheck --check-prefix=ZERO %s
// RUN: env KMM_FRAME=64K KMM_DEVICE_MEM=1M KMM_HOST_MEM=64M KMM_SPILL_IO=pread,cached KMM_STAGE_THREADS=12 KMM_PINNED_MEM=0 KMM_JOIN=0 %t 2>&1 | FileCheck --implicit-check-not=warning %s
// RUN: env KMM_STATS=0 KMM_NUMA= KMM_STAGE_THREADS=1 KMM_STAGE_BYTES=65536 %t 2>&1 | FileCheck --implicit-check-not=warning %s
#include <stdio.h>

static void set(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] = 1;
}

int main(void)
{
    static int x[100];
    for (int k = 0; k < 2; k++) {
        #pragma kmm parallel(i = 0:100) rebase(n: i) write(x[i])
        set(100, x);
        #pragma kmm wait
    }
    // CHECK: 1
    printf("%d\n", x[99]);
    return 0;
}
// WARN: kmm: warning: KMM_NUMA=off: no such value; there are: 0 1
// WARN: kmm: warning: KMM_ON_ERROR=ue: no such value; there are: continue
// WARN: kmm: warning: KMM_STAGE_BYTES=1M is ignored: it is no whole number
// WARN: kmm: warning: KMM_STAGE_THREADS=two is ignored: it is no whole number
// WARN: kmm: warning: KMM_STATS=no: no such value; there are: 0 1 json json:FILE
// WARN-NEXT: kmm: warning: the environment has KMM_DEVICE, but kmm has no such variable; the nearest is KMM_DEVICES
// WARN-NEXT: kmm: warning: the environment has KMM_HOSTMEM, but kmm has no such variable; the nearest is KMM_HOST_MEM
// ZERO: kmm: warning: KMM_CACHE_MAX=0 is ignored: it is a number from 1 to 1073741824
// ZERO-NEXT: kmm: warning: KMM_DEVICE_KEEP_FREE=0.5 is ignored: it is less than a byte
// ZERO-NEXT: kmm: warning: KMM_DEVICE_MEM=0K is ignored: it is less than a byte
// ZERO-NEXT: kmm: warning: KMM_FRAME=0 is ignored: it is less than a byte
// ZERO-NEXT: kmm: warning: KMM_HOST_MEM=0 is ignored: it is less than a byte
// ZERO-NEXT: kmm: warning: KMM_SPILL_DIR=/dev/null/x: it is no folder in which files can be made
// ZERO-NEXT: kmm: warning: KMM_SPILL_IO=pread,foo: no such value; there are: pread cached
// ZERO-NEXT: kmm: warning: KMM_STAGE_BYTES=0 is ignored: it is a number from 1 to 1073741824
// ZERO-NEXT: kmm: warning: KMM_STAGE_THREADS=-1 is ignored: it is a number from 0 to 12
