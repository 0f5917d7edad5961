// RUN: %kmmcc --emit-source %s | grep -v "^// CHECK" | FileCheck %s
// Only a pragma is a pragma; one goes on behind a backslash.
void f(int n, float *x);
// #pragma kmm nonsense
/*
#pragma kmm nonsense
*/
const char *text = "\
#pragma kmm nonsense \
";
#if 0
#pragma kmm parallel(i = 0:disabled) update(nothing[i])
#endif
#define quote '"'

void comments(int n, float *x)
{
    # /* here */ pragma /* and */ kmm /* there */ parallel(i = 0:n /* elements */) \
          rebase(n: i) update(x[i]) // more
    f(n, x);
    /* #pragma kmm */ int quoted = '#'; (void)quoted;
}
// CHECK: kmm_launch_begin("f", {{.*}}, [[#@LINE-5]]);
// CHECK-NOT: kmm_launch_begin
