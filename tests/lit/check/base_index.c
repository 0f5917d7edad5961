// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Bases with indices stand in parentheses; macros stand for no whole clauses.
#define READS read(y[i])
struct part {
    double *v;
} m[3];
void f(int n, double *x, const double *y);

void indexed(int n, double *y, double *const *rows, int k)
{
// CHECK: [[#@LINE+1]]:{{.*}}error: a base that has an index stands in parentheses: (a[k].member)[i]
#pragma kmm parallel(i = 0:n) rebase(n: i) update(m[k].v[i]) read(y[i])
    f(n, m[k].v, y);
// CHECK: [[#@LINE+1]]:{{.*}}error: 'rows[1][i]' has 2 sections, but 'rows' points to pointers; name the row in parentheses, as in (rows[k])[i]
#pragma kmm parallel(i = 0:n) rebase(n: i) update((m[k].v)[i]) read(rows[1][i])
    f(n, m[k].v, rows[1]);
// CHECK: [[#@LINE+1]]:{{.*}}error: 'READS' is a macro; macros may stand in clauses, but not for whole clauses: write the clause out
#pragma kmm parallel(i = 0:n) rebase(n: i) update((rows[0])[i]) READS
    f(n, rows[0], y);
#pragma kmm parallel(i = 0:n) rebase(n: i) update((m[k].v)[i]) read((rows[1])[i])
    f(n, m[k].v, rows[1]);
}
// CHECK-NOT: error:
