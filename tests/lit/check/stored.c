// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// What plain functions do through a pointer that no clause names: a store of any kind is an error, and loads too, where rebase moves pointers and they are not of fixed elements.
#include <stdlib.h>
#include <string.h>
enum { N = 1000 };
struct S { int a, b; };
union U { char c; int i; };
// CHECK: error: no clause says what 'f1' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f1(int n,int*x,struct S*y){for(int i=0;i<n;i++){struct S s={i,2};y[i]=s;x[i]=1;}}
// CHECK: error: no clause says what 'f2' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f2(int n,int*x,int*y){for(int i=0;i<n;i++){x[i]=1;} memset(y,0,n*4);}
// CHECK: error: no clause says what 'f3' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f3(int n,int*x,int*y){int*p=y; while(n--) *p++=*x++;}
// CHECK: error: no clause says what 'f4' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f4(int n,int*x,int*y){struct{int*p;}v={y}; for(int i=0;i<n;i++) v.p[i]=x[i];}
// CHECK: error: no clause says what 'f5' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f5(int n,int*x,const int*y){for(int i=0;i<n;i++){x[i]=1;((int*)y)[i]=4;}}
// CHECK: error: no clause says what 'f6' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f6(int n,int*x,int*y,void(*g)(int*)){for(int i=0;i<n;i++){x[i]=1;g(y+i);}}
// CHECK: error: no clause says what 'f7' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f7(int n,int*x,char*y){for(int i=0;i<n;i++){x[i]=1;*(union U*)(y+4*i)=(union U){.i=3};}}
// CHECK: error: no clause says what 'f8' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f8(int n,int*x,int*y){for(int i=0;i<n;i++){x[i]=1;__sync_fetch_and_add(y+i,1);}}
// CHECK: error: no clause says what 'f9' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f9(int n,int*x,int (*y)[2]){for(int i=0;i<n;i++){x[i]=1;y[i][1]=3;}}
// CHECK: error: no clause says what 'f10' does with {{.*}}, its parameter 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
static void f10(int n,int*x,int y[]){for(int i=0;i<n;i++){x[i]=1;*(y+i)=3;}}
// CHECK: error: 'f11' stores the address that is its parameter 'x' in memory to which no parameter leads
static int *kept;
static void f11(int n,int x[],const int y[N]){kept=x;for(int i=0;i<n;i++)x[i]=y[3];}
// CHECK: error: no clause says what is read of {{.*}}, so rebase cannot tell whether it moves
static void r1(int n,int*x,int*y){for(int i=0;i<n;i++)x[i]=y[i]+y[0];}
// CHECK: error: no clause says what is read of {{.*}}, so rebase cannot tell whether it moves
static void r2(int n,int*x,struct S*y){for(int i=0;i<n;i++){struct S s=y[i];s.a++;x[i]=s.a+y->b;}}
// CHECK: error: no clause says what is read of {{.*}}, so rebase cannot tell whether it moves
static void r3(int n,int*x,int*y){memcpy(x,y,n*4);}
// CHECK: error: no clause says what is read of {{.*}}, so rebase cannot tell whether it moves
static void r4(int n,int*x,void*y){const int*p=y;for(int i=0;i<n;i++)x[i]=p[i];}
void setit(int*p){*p=5;}
void all(int *x, int *y)
{
#define L(f,...) _Pragma("kmm parallel(i=0:N) rebase(n: i) update(x[i])") f(N,x,__VA_ARGS__);
L(f1,(struct S*)y)
L(f2,y)
L(f3,y)
L(f4,y)
L(f5,y)
L(f6,y,setit)
L(f7,(char*)y)
L(f8,y)
L(f9,(int(*)[2])y)
L(f10,y)
L(f11,y)
L(r1,y)
L(r2,(struct S*)y)
L(r3,y)
L(r4,y)
}
