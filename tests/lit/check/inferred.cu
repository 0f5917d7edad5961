// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck %s
// A pointer without a clause: what the code shows to be only read is read as a whole; all else is an error.
__device__ float peek(const float *x) { return *x; }
__device__ void poke(float *x) { *x = 1; }
__global__ void reads(int n, float *x, float *y) { float *z = y; x[0] = z[(int)z[1]]; }
__global__ void plain(int n, float *x, float *y) { x[0] = y[(int)y[n]] + peek(y + 1); }
__global__ void passes(int n, float *x, float *y) { x[0] = 1; poke(y); }
__global__ void unseen(int n, float *x, float *y);

void inferred(int n, float *x, float *y)
{
// CHECK: :[[#@LINE+2]]:28: warning: no clause says what is read of 'y', so each chunk reads the whole array; add read(y[...]) [-Wkmm-whole]
#pragma kmm parallel(i = 0:n) write(x[i])
    plain<<<1, 64>>>(n, x, y);
// CHECK: :[[#@LINE+2]]:28: warning: no clause says what is read of 'y', so each chunk reads the whole array; add read(y[...]) [-Wkmm-whole]
#pragma kmm parallel(i = 0:n) write(x[i])
    reads<<<1, 64>>>(n, x, y);
// CHECK: :[[#@LINE+2]]:29: error: no clause says what 'passes' does with 'y', its parameter 'y' (float *)
#pragma kmm parallel(i = 0:n) write(x[i])
    passes<<<1, 64>>>(n, x, y);
// CHECK: :[[#@LINE+2]]:29: error: no clause says what 'unseen' does with 'y', its parameter 'y' (float *)
#pragma kmm parallel(i = 0:n) write(x[i])
    unseen<<<1, 64>>>(n, x, y);
}
__global__ void simple(int n, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = 1; }
// The members of a struct that the launch converts are not those of the argument.
struct part { int n, off; };
struct larger : part { int off; };
__global__ void by_part(part v, float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < v.n) x[i + v.off] = 1; }
void converted_struct(larger l, const part &p, float *x)
{
#pragma kmm parallel
    by_part<<<1, 64>>>(p, x);
// CHECK: :[[#@LINE+3]]:27: error: no clause says what 'by_part' does with 'x', its parameter 'x' (float *)
// CHECK: :[[#@LINE+2]]:5: note: nothing is inferred: what the launch passes for 'v' is converted to another struct; say here what it accesses
#pragma kmm parallel
    by_part<<<1, 64>>>(l, x);
}
// What is inferred of one argument says nothing of another one that begins with the same variable.
__global__ void flags(int n, float *x, float *flag) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { x[i] = 1; flag[(int)x[i]] = 1; } }
#pragma kmm declare kernel(declared) parallel(i = 0:n) write(x[i])
__global__ void declared(int n, float *x, float *flag) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) { x[i] = 1; flag[(int)x[i]] = 1; } }
struct pointer { float *p; };
void two_of_one(int n, float *x, pointer v)
{
// CHECK: :[[#@LINE+2]]:28: error: no clause says what 'flags' does with 'x + n', its parameter 'flag' (float *)
#pragma kmm parallel
    flags<<<1, 64>>>(n, x, x + n);
// CHECK: :[[#@LINE+2]]:30: error: no clause says what 'flags' does with 'v.p + n', its parameter 'flag' (float *)
#pragma kmm parallel
    flags<<<1, 64>>>(n, v.p, v.p + n);
// CHECK: :[[#@LINE+2]]:31: error: no clause says what 'declared' does with 'x + n', its parameter 'flag' (float *)
#pragma kmm parallel
    declared<<<1, 64>>>(n, x, x + n);
// Nor of another parameter that gets the same pointer.
// CHECK: :[[#@LINE+2]]:28: error: no clause says what 'flags' does with 'x', its parameter 'flag' (float *)
#pragma kmm parallel
    flags<<<1, 64>>>(n, x, x);
// CHECK: :[[#@LINE+2]]:32: error: no clause says what 'flags' does with 'x + 3', its parameter 'flag' (float *)
#pragma kmm parallel
    flags<<<1, 64>>>(n, x + 3, x + 3);
// CHECK: :[[#@LINE+2]]:39: error: no clause says what 'flags' does with 'x', its parameter 'flag' (float *)
#pragma kmm parallel
    flags<<<1, 64>>>(n, (float *)(x), x);
// CHECK: :[[#@LINE+2]]:31: error: no clause says what 'declared' does with 'x', its parameter 'flag' (float *)
#pragma kmm parallel
    declared<<<1, 64>>>(n, x, x);
// The user's own clause may mean both.
#pragma kmm parallel(i = 0:n) update(x[0:2*n])
    flags<<<1, 64>>>(n, x, x + n);
}
// Of several arguments, a written clause counts for those that point into what it names, and for
// the one that is nearest before that.
__global__ void looks_up(int n, float *y, const float *x, const float *table) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = table[(int)x[i]]; }
__global__ void backwards(int n, float *x, float *end) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) end[-1 - i] = 1; }
template <class T> void of_template(int n, T *x)
{
// CHECK: :[[#@LINE+2]]:28: error: no clause says what 'flags{{.*}}' does with 'x + n', its parameter 'flag' (float *); add read((x + n)[...])
#pragma kmm parallel(i = 0:n) write(x[i])
    flags<<<1, 64>>>(n, x, x + n);
}
__attribute__((const)) int called(int n) { return n; }
void by_place(int n, int m, float *x, float *y, pointer v)
{
    int all = 2 * n, half = n / 2, few = 900;
    of_template(n, x);
// CHECK: :[[#@LINE+2]]:28: error: no clause says what 'flags' does with 'x + n', its parameter 'flag' (float *)
#pragma kmm parallel(i = 0:n) write(x[i])
    flags<<<1, 64>>>(n, x, x + n);
// CHECK: :[[#@LINE+2]]:28: error: no clause says what 'flags' does with '&x[m]', its parameter 'flag' (float *)
#pragma kmm parallel(i = 0:n) write(x[i])
    flags<<<1, 64>>>(n, x, &x[m]);
// CHECK: :[[#@LINE+2]]:32: error: no clause says what 'flags' does with 'x', its parameter 'flag' (float *)
#pragma kmm parallel(i = 0:n) write(x[i + 1])
    flags<<<1, 64>>>(n, x + 1, x);
// CHECK: :[[#@LINE+2]]:30: error: no clause says what 'flags' does with 'v.p + n', its parameter 'flag' (float *)
#pragma kmm parallel(i = 0:n) write(v.p[i])
    flags<<<1, 64>>>(n, v.p, v.p + n);
// CHECK: :[[#@LINE+2]]:34: warning: no clause says what is read of 'x + n', so each chunk reads the whole array
#pragma kmm parallel(i = 0:n) write(y[i]) read(x[i])
    looks_up<<<1, 64>>>(n, y, x, x + n);
// A place that kmmcc cannot compute, or that depends on sizes which need not agree, is no such place.
// CHECK: :[[#@LINE+2]]:28: error: no clause says what 'flags' does with 'm ? x + n : x', its parameter 'flag' (float *)
#pragma kmm parallel(i = 0:n) write(x[i])
    flags<<<1, 64>>>(n, x, m ? x + n : x);
// CHECK: :[[#@LINE+2]]:28: error: no clause says what 'flags' does with '&*(x + n)', its parameter 'flag' (float *)
#pragma kmm parallel(i = 0:n) write(x[i])
    flags<<<1, 64>>>(n, x, &*(x + n));
// CHECK: :[[#@LINE+2]]:38: error: no clause says what 'flags' does with 'x - n', its parameter 'flag' (float *)
#pragma kmm parallel(i = 0:half) write(x[i - half])
    flags<<<1, 64>>>(half, x - half, x - n);
// CHECK: :[[#@LINE+2]]:30: error: no clause says what 'flags' does with 'x + few', its parameter 'flag' (float *)
#pragma kmm parallel(i = 0:called(few)) write(x[i])
    flags<<<1, 64>>>(few, x, x + few);
// What is read of one argument is not what is stored through another.
// CHECK: :[[#@LINE+1]]:48: error: 'x[n:8]' is only read here, but 'flags' stores to it; say write(x[n:8])
#pragma kmm parallel(i = 0:n) write(x[i]) read(x[n:8])
    flags<<<1, 64>>>(n, x, x + n);
// CHECK-NOT: no clause
#pragma kmm parallel(i = 0:n) write(x[i]) update((m ? x + n : x)[0:2])
    flags<<<1, 64>>>(n, x, m ? x + n : x);
#pragma kmm parallel(i = 0:n) write(x[i]) update(x[n])
    flags<<<1, 64>>>(n, x, x + n);
#pragma kmm parallel(i = 0:n) write(x[i]) update(x[m+1:m])
    flags<<<1, 64>>>(n, x, &x[m]);
#pragma kmm parallel(i = 0:n) write(x[i + 1]) update(x[0])
    flags<<<1, 64>>>(n, x + 1, x);
#pragma kmm parallel(i = 0:n) update(x[0:all])
    flags<<<1, 64>>>(n, x, x + n);
#pragma kmm parallel(i = 0:n) write(y[i]) read(x)
    looks_up<<<1, 64>>>(n, y, x, x + n);
#pragma kmm parallel(i = 0:n) write(y[i]) read(x[0:n], (x + n)[0:16])
    looks_up<<<1, 64>>>(n, y, x, &x[n]);
#pragma kmm parallel(i = 0:n) write(y[i]) read(x[i - 1:3])
    looks_up<<<1, 64>>>(n, y, x - 1, x + 1);
#pragma kmm parallel(i = 0:n) write(x[n - 1 - i])
    backwards<<<1, 64>>>(n, x, x + n);
}
// What the completed pragma would say is no expression of a clause.
struct sized { int n; constexpr operator int() const { return n; } int unseen() const; };
constexpr int operator""_u(unsigned long long n) { return (int)n; }
void completed(int n, float *x)
{
// CHECK: :[[#@LINE+3]]:26: error: no clause says what 'simple' does with 'x++', its parameter 'x' (float *)
// CHECK: :[[#@LINE+2]]:5: note: nothing is inferred: what the launch passes for 'x' may have side effects, which clauses would repeat; compute the value before the pragma
#pragma kmm parallel
    simple<<<1, 64>>>(n, x++);
// CHECK: :[[#@LINE+2]]:5: note: nothing is inferred: what the launch passes for 'n' may have side effects
#pragma kmm parallel
    simple<<<1, 64>>>([&] { return n++; }(), x);
// CHECK: :[[#@LINE+2]]:5: note: nothing is inferred: what the launch passes for 'n' may have side effects
#pragma kmm parallel
    simple<<<1, 64>>>(sized{n}.unseen(), x);
// CHECK: :[[#@LINE+2]]:5: note: nothing is inferred: what the launch passes for 'n' is no expression that clauses may have; compute the value before the pragma
#pragma kmm parallel
    simple<<<1, 64>>>(static_cast<int>(sized{n}), x);
// CHECK: :[[#@LINE+2]]:5: note: nothing is inferred: what the launch passes for 'n' is no expression that clauses may have
#pragma kmm parallel
    simple<<<1, 64>>>((n, 7), x);
// CHECK: :[[#@LINE+2]]:5: note: nothing is inferred: what the launch passes for 'n' is no expression that clauses may have
#pragma kmm parallel
    simple<<<1, 64>>>(7_u, x);
}
// What may throw needs an object that a constexpr function cannot have.
int throws(int n);
int never_throws(int n) noexcept;
constexpr int constant(int n, float *x)
{
    if (!x)
        return n;
// CHECK: :[[#@LINE+1]]:13: error: the launch stands in a constexpr function, and calls a function that may throw; compute the value before the pragma, or say noexcept
#pragma kmm parallel(i = 0:n) write(x[i])
    simple<<<throws(n), 64>>>(n, x);
#pragma kmm parallel(i = 0:n) write(x[i])
    simple<<<never_throws(n), 64>>>(n, x);
    return 0;
}
// An argument that has no clause would be computed for the item, too.
__global__ void indexed(int n, float *x, const float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = y[(int)x[i]]; }
float *next(void);
void twice(int n, float *x, float *y, float *z)
{
// CHECK: :[[#@LINE+2]]:31: error: no clause says what is read of 'y + n++', and kmm cannot compute that a second time
#pragma kmm parallel(i = 0:n) update(x[i])
    indexed<<<1, 64>>>(64, x, y + n++);
// CHECK: :[[#@LINE+2]]:31: error: no clause says what is read of 'next()', and kmm cannot compute that a second time
#pragma kmm parallel(i = 0:n) update(x[i])
    indexed<<<1, 64>>>(64, x, next());
// CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: no clause says what 'passes' does with 'n ? x : y', its parameter 'y' (float *); add read((n ? x : y)[...])
#pragma kmm parallel(i = 0:n) write(z[i])
    passes<<<1, 64>>>(64, z, n ? x : y);
}
// One message for one variable, however often it is passed.
__global__ void both(int n, float *x, float *y);
void same(int n, float *x)
{
// CHECK: :[[#@LINE+3]]:24: error: no clause says what 'both' does with 'x', its parameter 'x' (float *)
// CHECK-NOT: its parameter 'y'
#pragma kmm parallel(i = 0:n)
    both<<<1, 64>>>(n, x, x);
}
// What stands in no text has no clause that could be inferred.
#define ARGUMENTS (n, x, y)
#define LAUNCH(...) plain<<<1, 64>>>(__VA_ARGS__)
template <class... A> void pack(int n, A... a)
{
// CHECK: :[[#@LINE+2]]:5: error: what the parameter pack passes to 'plain' has no name for clauses; give pointers parameters of their own
#pragma kmm parallel
    plain<<<1, 64>>>(n, a...);
}
void hidden(int n, float *x, float *y)
{
    pack(n, x, y);
#pragma kmm parallel
    if (n)
        LAUNCH(n, x, y);
// CHECK: :[[#@LINE+3]]:5: error: no clause says what 'plain' does with argument 2, which a macro writes; write the argument out, or add read(...), write(...) or update(...)
// CHECK: :[[#@LINE+2]]:5: error: no clause says what 'plain' does with argument 3, which a macro writes
#pragma kmm parallel
    plain<<<1, 64>>>ARGUMENTS;
#pragma kmm parallel write(x[0]) read(y)
    plain<<<1, 64>>>ARGUMENTS;
}
// A struct that is passed twice: what is inferred of one parameter says nothing of the other.
struct span { float *p; int n; };
__global__ void spans(span a, span b, const float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < a.n) { a.p[i] = x[i]; if (x[i] > 9) b.p[b.n + ((int)x[i] & 7)] = 1; } }
__global__ void doubles(span a, span b) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < a.n) b.p[i] = 2 * a.p[i]; }
void same_struct(span v, float *x)
{
// CHECK: :[[#@LINE+2]]:25: error: no clause says what 'spans' does with the pointers of 'v' by its parameter 'b'; what is inferred is of another parameter, which gets the same
#pragma kmm parallel
    spans<<<4, 64>>>(v, v, x);
#pragma kmm parallel(i = 0:v.n) read(x[i]) update(v.p[0:v.n + 8])
    spans<<<1, 64>>>(v, v, x);
#pragma kmm parallel
    doubles<<<4, 64>>>(v, v);
// CHECK-NOT: error:
}
