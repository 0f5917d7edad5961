// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s --match-full-lines --strict-whitespace
// RUN: %not %kmmcc -fdiagnostics-parseable-fixits -c %s -o %t.o 2>&1 | grep ^fix-it | sed 's/"[^"]*fixits.c"/"F"/' | FileCheck %s --check-prefix=EDITOR --match-full-lines
// RUN: %kmmcc -### -fdiagnostics-parseable-fixits -c %s -o %t.o 2>&1 | FileCheck %s --check-prefix=PASSED
// PASSED: -fdiagnostics-parseable-fixits
// What would mend an error, below the caret and for editors.
void f(int n, float *x, const float *y);
void g(int n, int m, float *x, float (*a)[8]);
int next(void);

void access(int n, float *x, const float *y)
{
//      CHECK:{{.*}}:[[#@LINE+8]]:10: error: no clause says what 'f' does with 'x + 1', its parameter 'x' (float *); add read(x[...]), write(x[...]) or update(x[...])
// CHECK-NEXT:    f(n, x + 1, y);
// CHECK-NEXT:         ^~~~~
// CHECK-NEXT:{{.*}}:[[#@LINE+4]]:43: note: if each index changes its own element
// CHECK-NEXT:#pragma kmm parallel(i = 0:n) rebase(n: i)
// CHECK-NEXT:                                          ^
// CHECK-NEXT:                                           update((x + 1)[i])
#pragma kmm parallel(i = 0:n) rebase(n: i)
    f(n, x + 1, y);
// EDITOR: fix-it:"F":{19:43-19:43}:" update((x + 1)[i])"
// EDITOR: fix-it:"F":{19:43-19:43}:" read(y[i])"
}

void rank(int n, int m, float *x, float (*a)[8])
{
//      CHECK:{{.*}}: note: if its dimensions are the ranges of the axes
// CHECK-NEXT:#pragma kmm parallel(i = 0:n, j = 0:m) chunk(10) rebase(n: i, m: j) update(x[i][j]) update(a)
// CHECK-NEXT:{{ +\^}}
// CHECK-NEXT:{{ +}}shape(x[n][m])
#pragma kmm parallel(i = 0:n, j = 0:m) chunk(10) rebase(n: i, m: j) update(x[i][j]) update(a)
    g(n, m, x, a);
// EDITOR: fix-it:"F":{31:94-31:94}:" shape(x[n][m])"
//      CHECK:#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i]) update(a[i])
// CHECK-NEXT:                                                               ^~~~
// CHECK-NEXT:                                                                   [:]
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i]) update(a[i])
    g(n, m, x, a);
// EDITOR: fix-it:"F":{37:68-37:68}:"[:]"
}

void overlap(int n, float *x, const float *y)
{
//      CHECK:#pragma kmm parallel(i = 0:1000) chunk(10) rebase(n: i) read(y[i]) write(x[i:3])
// CHECK-NEXT:                                                                         ^~~~~~
// CHECK-NEXT:                                                                             1
#pragma kmm parallel(i = 0:1000) chunk(10) rebase(n: i) read(y[i]) write(x[i:3])
    f(1000, x, y);
//      CHECK:{{.*}}:[[#@LINE+4]]:68: note: if the kernel adds to them
// CHECK-NEXT:#pragma kmm parallel(i = 0:1000) chunk(10) rebase(n: i) read(y[i]) write(x[0])
// CHECK-NEXT:                                                                   ^~~~~
// CHECK-NEXT:                                                                   reduce(+:{{ }}
#pragma kmm parallel(i = 0:1000) chunk(10) rebase(n: i) read(y[i]) write(x[0])
    f(1000, x, y);
// EDITOR: fix-it:"F":{47:78-47:79}:"1"
// EDITOR: fix-it:"F":{53:68-53:74}:"reduce(+: "
}

void effects(int n, float *x, const float *y)
{
//      CHECK:    #pragma kmm parallel(i = 0:next()) rebase(n: i) read(y[i]) update(x[i])
// CHECK-NEXT:                               ^~~~~~
// CHECK-NEXT:                               next_value
    #pragma kmm parallel(i = 0:next()) rebase(n: i) read(y[i]) update(x[i])
    f(n, x, y);
    #pragma kmm parallel(i = 0:n++) rebase(n: i) read(y[i]) update(x[i])
    f(n, x, y);
    #pragma kmm parallel(i = 0:n) chunk(n = 10) rebase(n: i) read(y[i]) update(x[i])
    f(n, x, y);
// EDITOR: fix-it:"F":{64:32-64:38}:"next_value"
// EDITOR: fix-it:"F":{64:1-64:1}:"    const int next_value = next();\n"
// EDITOR: fix-it:"F":{66:33-66:35}:""
// EDITOR: fix-it:"F":{68:41-68:44}:""
}

// How far a plain function reads is not known, so no section is proposed.
static void halo(int n, float *x, const float *y)
{
    for (int i = 0; i < n; i++)
        x[i] = y[i] + y[i + 2];
}

void section(int n, float *x, const float *y)
{
//      CHECK:#pragma kmm parallel(i = 0:n) rebase(n: i) read(y[i]) write(x[i])
// CHECK-NEXT:                                                ^~~~
// CHECK-NEXT:{{.*}}: note: it is read here
#pragma kmm parallel(i = 0:n) rebase(n: i) read(y[i]) write(x[i])
    halo(n, x, y);
}
