// Values that outlive a barrier: structured bindings, destructors, and addresses that calls, objects and references keep.
// RUN: %kmmcc --target=host %san -std=c++17 -w -fkmm-fibers %s -o %t.fibers && %t.fibers > %t.expected
// RUN: %kmmcc --target=host %san -std=c++17 -O1 -w %s -o %t && %t | diff %t.expected -
// RUN: %not %kmmcc --target=host -std=c++17 -w -DGENERIC %s -o %t 2>&1 | FileCheck %s
// CHECK: a variable of this kernel template has a destructor: compile with -fkmm-fibers
#include <cuda_runtime.h>
#include <stdio.h>
#include <tuple>
struct S{float a,b;};
struct V{int v[3]; __device__ V(int k):v{k,k+1,k+2}{} __device__ ~V(){}};
struct G{float*p; __device__ G(float*q):p(q){} __device__ ~G(){*p+=1;}};
template<class T> struct BG { T t; __device__ BG(float*q):t(q){} };
struct Arr { G g[2]; };
__global__ void k(int n,int*x){ __shared__ int sh[64]; V v(threadIdx.x); sh[threadIdx.x]=v.v[1]; __syncthreads(); if((int)threadIdx.x<n) x[threadIdx.x]=sh[63-threadIdx.x]+v.v[2]; }
// destructor stores after the barrier
__global__ void guard(float *x, float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=0; { G g(&s[i]); __syncthreads(); y[i]=s[63-i]; __syncthreads(); } __syncthreads(); x[i]=s[63-i]; }
__global__ void guard2(float *x, float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=0; { BG<G> g(&s[i]); __syncthreads(); y[i]=s[63-i]; __syncthreads(); } __syncthreads(); x[i]=s[63-i]; }
__device__ G make(float*p){ return G(p); }
__global__ void guard3(float *x, float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=0; __syncthreads(); { const G &g = make(&s[i]); (void)g; __syncthreads(); y[i]=s[63-i]; __syncthreads(); } __syncthreads(); x[i]=s[63-i]; }
__global__ void sb(float *x, S *y) { int i=threadIdx.x; __shared__ float s[64]; auto [a,b]=y[i]; s[i]=a; __syncthreads(); x[i]=s[63-i]+b; }
__global__ void sb2(float *x, S *y) { int i=threadIdx.x; __shared__ float s[64]; auto &[a,b]=y[i]; s[i]=a; b=7; __syncthreads(); auto [c,d]=y[63-i]; x[i]=s[63-i]+d; }
__global__ void sb3(float *x, S *y) { int i=threadIdx.x; __shared__ float s[64]; float p[2]={1.f*i,2}; auto &[a,b]=p; s[i]=a; b+=i; __syncthreads(); for (int k=0;k<2;k++) { auto [q,r]=y[k]; s[i]+=q+r; __syncthreads(); } x[i]=s[63-i]+p[1]; }
__global__ void sb4(float *x, S *y) { int i=threadIdx.x; float u=1,v=2; auto &&[a,b]=std::tie(u,v); a+=1; __syncthreads(); if (auto [c,d]=y[i]; c>=0) { __syncthreads(); x[i]=u+v+d; } }
struct P{float*p; __device__ P(float*q):p(q){}};
__device__ P mk(float*q) { return P(q); }
struct A2{float*p;};
__global__ void ptr(float *y) { int i=threadIdx.x; __shared__ float s[64]; float x=i; P q(&x); s[i]=1; __syncthreads(); y[i]=*q.p+s[63-i]; }
__global__ void ptr2(float *y) { int i=threadIdx.x; __shared__ float s[64]; float x=i; P q=mk(&x); s[i]=1; __syncthreads(); x+=1; __syncthreads(); y[i]=*q.p+s[63-i]; }
__global__ void ptr3(float *y) { int i=threadIdx.x; __shared__ float s[64]; float x=i; A2 q{&x}; s[i]=1; __syncthreads(); x+=1; __syncthreads(); y[i]=*q.p+s[63-i]; }
__global__ void ptr4(float *y) { int i=threadIdx.x; __shared__ float s[64]; float x=i; A2 q; q.p=&x; s[i]=1; __syncthreads(); y[i]=*q.p+s[63-i]; }
__global__ void ptr5(float *y) { int i=threadIdx.x; __shared__ float s[64]; float x[2]={1.f*i,2}; P q(x); s[i]=1; __syncthreads(); y[i]=q.p[0]+q.p[1]+s[63-i]; }
__global__ void lam(float *y) { int i=threadIdx.x; __shared__ float s[64]; float x=i; auto f=[&](float k){ x+=k; return x; }; s[i]=1; __syncthreads(); y[i]=f(2)+s[63-i]; }
template<class T> __global__ void tk(T*y) { int i=threadIdx.x; __shared__ T s[64]; T v=i; T w(i+1); s[i]=v; __syncthreads(); y[i]=s[63-i]+w; }
__global__ void init(float*y, int n) { int i=threadIdx.x; __shared__ float s[64]; if (int k=n+i; k>2) { s[i]=k; __syncthreads(); y[i]=s[63-i]; } switch (int k=n; k) { case 3: s[i]=k; __syncthreads(); y[i]+=s[63-i]; } }
__global__ void gt(float*y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; if (i>200) goto end; { int k=i; s[i]+=k; } __syncthreads(); y[i]=s[63-i]; end: ; }
__global__ void st(float*y) { int i=threadIdx.x; static __shared__ float s[64]; static const float c=2; constexpr int two=2; s[i]=i*c; __syncthreads(); y[i]=s[63-i]*two; }
__global__ void rf(float*y) { int i=threadIdx.x; __shared__ float s[64]; float a[3]={1,2,3}; for (float &v : a) v+=i; s[i]=a[1]; __syncthreads(); for (float v : a) { s[i]+=v; __syncthreads(); } y[i]=s[63-i]; }
struct PR{float*p; __device__ PR(float&q):p(&q){} __device__ void set(float*q){p=q;} __device__ void setr(float&q){p=&q;}};
struct R{float&r;};
__device__ void put(A2&a, float*q){a.p=q;}
__device__ void put2(float**a, float*q){*a=q;}
__device__ float &id(float &q){return q;}
__global__ void a1(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i; PR q(x); __syncthreads(); y[i]=*q.p+s[63-i]; }
__global__ void a2(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i; R q{x}; __syncthreads(); q.r+=2; __syncthreads(); y[i]=q.r+s[63-i]; }
__global__ void a3(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=1; R q{x}; q.r+=i; __syncthreads(); y[i]=x+s[63-i]; }
__global__ void a4(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i, z=0; PR q(z); q.set(&x); __syncthreads(); y[i]=*q.p+s[63-i]; }
__global__ void a5(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i, z=0; PR q(z); q.setr(x); __syncthreads(); y[i]=*q.p+s[63-i]; }
__global__ void a6(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i; A2 q; put(q,&x); __syncthreads(); y[i]=*q.p+s[63-i]; }
__global__ void a7(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i; float *p; put2(&p,&x); __syncthreads(); y[i]=*p+s[63-i]; }
__global__ void a8(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i; float *p=&id(x); __syncthreads(); y[i]=*p+s[63-i]; }
__global__ void a9(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i; float &p=x; p+=1; __syncthreads(); y[i]=x+s[63-i]; }
__global__ void b1(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x[3]={1,2,3}; float *p=x+1; p[0]=i; __syncthreads(); y[i]=*p+s[63-i]+p[1]; }
__global__ void b2(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; struct { float a,b; } t={1.f*i,2}; float *p=&t.b; __syncthreads(); y[i]=*p+s[63-i]; }
__global__ void b3(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i; float *p[2]={&x,&s[i]}; __syncthreads(); y[i]=*p[0]+*p[1]+s[63-i]; }
__global__ void b4(float *y) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float x=i, z=3; float *p= i%2 ? &x : &z; __syncthreads(); y[i]=*p+s[63-i]; }
__global__ void b5(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float u=1; float *p=&u; *p+=i; __syncthreads(); y[i]=u+s[63-i]; }
__global__ void b6(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; int c=0; for (int k=0;k<n;k++) { c+=k; __syncthreads(); if (i%3==0) continue; s[i]+=c; } __syncthreads(); y[i]=s[63-i]; }
__global__ void b7(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; for (int k=0, m=i; k<n; k++, m+=2) { s[i]+=m; __syncthreads(); } y[i]=s[63-i]; }
__global__ void b8(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; int j=i+1; __syncthreads(); { int i=5; s[j%64]+=i; __syncthreads(); y[j-1]=s[63-(j-1)]+i; } }
__global__ void b9(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; do { if (i<10) break; s[i]+=1; } while (0); __syncthreads(); y[i]=s[63-i]; }
__global__ void c1(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float w[4]; for (int k=0;k<4;k++) w[k]=k*i; __syncthreads(); float t=0; for (float v : w) t+=v; __syncthreads(); y[i]=t+s[63-i]; }
__global__ void c2(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float a=i, b=2; auto sw=[](float&p,float&q){float t=p;p=q;q=t;}; sw(a,b); __syncthreads(); y[i]=a*3+b+s[63-i]; }
__global__ void c3(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; if constexpr (sizeof(int)==4) { float t=i; __syncthreads(); y[i]=t+s[63-i]; } else { y[i]=0; } }
__global__ void c4(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; float t=(__syncthreads(), s[63-i]); y[i]=t; }
__global__ void c5(float *y, int n) { int i=threadIdx.x; __shared__ float s[64]; s[i]=i; switch (n) { case 3: { float q=i; __syncthreads(); s[i]+=q; } [[fallthrough]]; case 4: __syncthreads(); y[i]=s[63-i]; break; default: y[i]=-1; } }
template <class T> __global__ void generic(float *y) { int i = threadIdx.x; __shared__ float s[64]; T v(&y[i]); s[i] = i; __syncthreads(); y[i] += s[63 - i]; }
__global__ void pair(int n, S *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; auto &[a, b] = y[i]; a = 3; }
__global__ void other(int n, S *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; auto [a, b] = y[i]; y[i].b = a + i; }
template<class T> static void dump(const char*n,T*d,int c){ T h[256]; cudaMemcpy(h,d,c*sizeof(T),cudaMemcpyDeviceToHost); double s=0; for(int i=0;i<c;i++) s=s*1.01+(double)h[i]; printf("%s %.10g\n",n,s); }
int main(){ int*x; float *a,*b; S*y; cudaMalloc(&x,256); cudaMalloc(&a,256); cudaMalloc(&b,256); cudaMalloc(&y,64*sizeof(S));
float h[128]; for(int i=0;i<128;i++)h[i]=i; cudaMemcpy(y,h,512,cudaMemcpyHostToDevice);
k<<<1,64>>>(64,x); dump("k",x,64);
guard<<<1,64>>>(a,b); dump("g",a,64); dump("g",b,64);
guard2<<<1,64>>>(a,b); dump("g2",a,64); dump("g2",b,64);
guard3<<<1,64>>>(a,b); dump("g3",a,64); dump("g3",b,64);
sb<<<1,64>>>(a,y); dump("sb",a,64); sb2<<<1,64>>>(a,y); dump("sb2",a,64);
sb3<<<1,64>>>(a,y); dump("sb3",a,64); sb4<<<1,64>>>(a,y); dump("sb4",a,64);
ptr<<<1,64>>>(a); dump("ptr",a,64); ptr2<<<1,64>>>(a); dump("ptr2",a,64); ptr3<<<1,64>>>(a); dump("ptr3",a,64); ptr4<<<1,64>>>(a); dump("ptr4",a,64); ptr5<<<1,64>>>(a); dump("ptr5",a,64);
lam<<<1,64>>>(a); dump("lam",a,64); tk<<<1,64>>>(a); dump("tk",a,64); init<<<1,64>>>(a,3); dump("init",a,64); gt<<<1,64>>>(a); dump("gt",a,64); st<<<1,64>>>(a); dump("st",a,64); rf<<<1,64>>>(a); dump("rf",a,64);
pair<<<4, 16>>>(63, y); dump("pair", (float *)y, 128); other<<<4, 16>>>(63, y); dump("other", (float *)y, 128);
#ifdef GENERIC
generic<G><<<1, 64>>>(a);
#endif
#define D(k) k<<<1,64>>>(a); dump(#k,a,64);
#define E(k) k<<<1,64>>>(a,3); dump(#k,a,64);
D(a1) D(a2) D(a3) D(a4) D(a5) D(a6) D(a7) D(a8) D(a9) D(b1) D(b2) D(b3) D(b4) E(b5) E(b6) E(b7) E(b8) E(b9) E(c1) E(c2) E(c3) E(c4) E(c5)
}
