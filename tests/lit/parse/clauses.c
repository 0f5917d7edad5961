// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Each error is reported where it is, and the clauses after it are still parsed.
void f(int n, float *x);

void clauses(int n, float *x)
{
// CHECK: :[[#@LINE+4]]:27: error: expected ':'
// CHECK: :[[#@LINE+3]]:37: error: expected ']'
// CHECK: :[[#@LINE+2]]:45: error: expected '(' after 'write'
// CHECK: :[[#@LINE+1]]:56: error: expected a string, as in label("step")
#pragma kmm parallel(i = 0) read(x[i) write x[i] label(x)
    f(n, x);
// CHECK: :[[#@LINE+4]]:31: error: axis 'i' is named twice
// CHECK: :[[#@LINE+3]]:49: error: clause 'chunk' is given twice
// CHECK: :[[#@LINE+2]]:65: error: expected the extents of 'x', as in shape(x[h][w])
// CHECK: :[[#@LINE+1]]:76: error: expected ']': shape takes extents, not sections
#pragma kmm parallel(i = 0:n, i = 0:n) chunk(1) chunk(2) shape(x) shape(x[1:2])
    f(n, x);
// CHECK: :[[#@LINE+4]]:25: error: expected the source of axis 'i': global.x, global.y, global.z, block.x, block.y or block.z
// CHECK: :[[#@LINE+3]]:48: error: expected an expression
// CHECK: :[[#@LINE+2]]:60: error: expected the length of the section: a section is [index], [lower:length] or [:]
// CHECK: :[[#@LINE+1]]:71: error: expected ']': a section is [index], [lower:length] or [:]
#pragma kmm parallel(i: thread.x = 0:n) read(x[]) read(x[i:]) read(x[:3])
    f(n, x);
// CHECK: :[[#@LINE+3]]:32: error: expected x, y or z
// CHECK: :[[#@LINE+2]]:48: error: expected the operation of the reduction: + * min max & | ^ && || argmin or argmax, as in reduce(+: sum[0])
// CHECK: :[[#@LINE+1]]:66: error: expected ':'
#pragma kmm parallel(i: global.w = 0:n) reduce(-: x[0]) rebase(n = i)
    f(n, x);
// CHECK: :[[#@LINE+1]]:41: error: expected ',' or ')' in clause 'read'
#pragma kmm parallel(i = 0:n) read(x[i] write(x[i])
    f(n, x);
// CHECK: :[[#@LINE+3]]:46: error: chunk has more entries than a launch has dimensions
// CHECK: :[[#@LINE+2]]:54: error: expected an expression
// CHECK: :[[#@LINE+1]]:63: error: expected a parameter of the function, as in rebase(n: i) or rebase(#1: i)
#pragma kmm parallel(i = 0:n) chunk(1, 2, 3, 4) read() rebase(3: i)
    f(n, x);
// CHECK: :[[#@LINE+3]]:21: error: ++ would change a variable; expressions of a clause have no side effects: compute the value before the pragma
// CHECK: :[[#@LINE+3]]:23: error: an assignment would change a variable; expressions of a clause have no side effects: compute the value before the pragma
#pragma kmm parallel(i = 0:n) \
            read(x[i++]) \
            write(x[i = 2])
    f(n, x);
// CHECK: :[[#@LINE+1]]:17: error: 'data' needs a map clause, as in data map(tofrom: A[0:n])
#pragma kmm data
    {}
// CHECK: :[[#@LINE+2]]:22: error: 'x' is a pointer, so a map needs its length: x[0:n]
// CHECK: :[[#@LINE+1]]:23: error: a map needs the length of the array, as in map(tofrom: A[0:n])
#pragma kmm data map(x[2])
    {}
}
