// Digraphs, in the program and in pragmas; #line: what __LINE__ and __FILE__ say stays.
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
%:include <stdio.h>
static void add(int n, float *x) <% for (int i = 0; i < n; i++) x<:i:> += 1; %>
static float x<:1000:>;
int main(void)
<%
    int n = 1000;
%:pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(x<:i:>)
    add(n, x);
    printf("%d %s\n", __LINE__, __FILE__ + sizeof(__FILE__) - 7);
%:pragma kmm task update(x<:0:n:>)
    <% x<:3:> = 7; %>
#line 77 "generated.y"
#pragma kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(x[i])
    add(n, x);
    printf("%d %s\n", __LINE__, __FILE__);
# 5
#pragma kmm wait
    printf("%g %g %d %s\n", x<:999:>, x<:3:>, __LINE__, __FILE__);
    return 0;
%>
