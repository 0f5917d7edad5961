// A program of several processes: the first runs main, the others have run its static initializers and serve it. Its exit
// status is that of the first. A process that it starts is a program of its own.
// RUN: %kmmcc -O1 %san %s -o %t
// RUN: env KMM_NODES=1 run_nodes -n 3 -d 500 %t | FileCheck %s
// RUN: env KMM_NODES=1 run_nodes -n 3 %t 5 | FileCheck %s; env KMM_NODES=1 run_nodes -n 3 %t 5; test $? = 5
// RUN: env KMM_NODES=1 run_nodes -n 2 %t run | FileCheck --check-prefix=CHILD %s
// CHECK-COUNT-3: initializer
// CHECK-NEXT: main 1
// CHECK-NOT: {{.}}
// CHILD-COUNT-2: initializer
// CHILD: main 1
// CHILD-NEXT: initializer
// CHILD-NEXT: main 1
// CHILD-NOT: {{.}}

// The same under -fkmm-check, where what looks for a symbol that is not there is the first to free memory.
// RUN: %kmmcc -O1 %san -fkmm-check %s -o %t.checked
// RUN: env KMM_NODES=1 run_nodes -n 3 %t.checked | FileCheck %s

// Where it is not asked for, or there is one process, each runs its own main.
// RUN: run_nodes -n 2 %t | sort | FileCheck --check-prefix=ALONE %s
// RUN: env KMM_NODES=0 run_nodes -n 2 %t | sort | FileCheck --check-prefix=ALONE %s
// RUN: env KMM_NODES=1 %t | FileCheck --check-prefix=ONE %s
// ALONE-COUNT-2: initializer
// ALONE-COUNT-2: main 1
// ONE: initializer
// ONE-NEXT: main 1

// One that dies, or leaves without a word, ends all of them.
// RUN: %not env KMM_NODES=1 run_nodes -n 3 %t leave 2>&1 | FileCheck --check-prefix=LOST %s
// LOST-COUNT-1: kmm: error: node 0 is lost: its connection has ended; the program ends

// Never several programs by mistake: other builds, a plug-in that is not there, a program that was linked otherwise, or
// that calls MPI itself.
// RUN: %kmmcc -O1 %san -DOTHER %s -o %t.other
// RUN: %not env KMM_NODES=1 run_nodes -n 3 sh -c 'if [ $PMI_RANK = 1 ]; then exec %t.other; else exec %t; fi' 2>&1 | FileCheck --check-prefix=BUILDS %s
// BUILDS-NOT: main
// BUILDS: kmm: error: node 1 runs another build of the program than node 0: its build id is {{[0-9a-f]+}}, and not {{[0-9a-f]+}}
// RUN: %not env KMM_NODES=1 KMM_TRANSPORT=/nothing.so run_nodes -n 2 %t 2>&1 | FileCheck --check-prefix=PLUGIN %s
// PLUGIN-NOT: main
// PLUGIN: kmm: error: PMI_SIZE says that 2 processes were started, which KMM_NODES=1 makes one program: the plug-in for messages cannot be opened: /nothing.so
// PLUGIN-NOT: error
// RUN: %not env KMM_NODES=1 PMI_SIZE=2 PMI_RANK=0 KMM_TRANSPORT=libkmm.so.0 %t 2>&1 | FileCheck --check-prefix=NAMED %s
// NAMED: the plug-in for messages cannot be opened: {{.*}}lib/kmm/libkmm-mpi-libkmm.so.0.so
// RUN: %kmmcc -O1 %san -c %s -o %t.o && %cxx %san %t.o -o %t.linked -L%kmm_build/lib -lkmm -Wl,-rpath,%kmm_build/lib
// RUN: %not env KMM_NODES=1 run_nodes -n 2 %t.linked 2>&1 | FileCheck --check-prefix=LINKED %s
// LINKED: kmm: error: KMM_NODES=1 makes one program of several processes only where kmmcc has linked one with pragmas, or main calls kmm_nodes_start
// RUN: echo 'int MPI_Init(void) { return 0; }' > %t.c && %cc %san -shared -fPIC %t.c -o %t.so
// RUN: %not env KMM_NODES=1 LD_PRELOAD=%t.so run_nodes -n 2 %t 2>&1 | FileCheck --check-prefix=MPI %s
// MPI-NOT: main
// MPI: kmm: error: PMI_SIZE says that 2 processes were started, which KMM_NODES=1 makes one program: the program calls MPI itself
// MPI-NOT: error
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unistd.h>

static struct said {
    said()
    {
        std::puts("initializer");
        std::fflush(stdout);
    }
} said;

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
    std::printf("main %d\n", x[99]);
    std::fflush(stdout);
    if (argc > 1 && !std::strcmp(argv[1], "leave"))
        _exit(0);
    if (argc > 1 && !std::strcmp(argv[1], "run"))
        return std::system(argv[0]) != 0;
#ifdef OTHER
    return 1;
#endif
    return argc > 1 ? std::atoi(argv[1]) : 0;
}
