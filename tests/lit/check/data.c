// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// A block of data is left at its end.
int data(int n, float *x)
{
    if (n == 5)
// CHECK: :[[#@LINE+1]]:9: error: this would enter the block of 'data' behind its beginning
        goto inside;
    switch (n) {
#pragma kmm data map(x[0:n])
        {
// CHECK: :[[#@LINE+1]]:9: error: this would enter the block behind its beginning
        case 6:;
        }
    }
    for (int k = 0; k < n; k++) {
#pragma kmm data map(x[0:n])
        {
            if (k == 1)
// CHECK: :[[#@LINE+1]]:17: error: this would leave the block of 'data' before its arrays are back; leave it at its end
                break;
            if (k == 2)
// CHECK: :[[#@LINE+1]]:17: error: this would leave the block of 'data' before its arrays are back; leave it at its end
                continue;
            if (k == 3)
// CHECK: :[[#@LINE+1]]:17: error: this would leave the block of 'data' before its arrays are back; leave it at its end
                return 1;
            if (k == 4)
// CHECK: :[[#@LINE+1]]:17: error: this would leave the block of 'data' before its arrays are back; leave it at its end
                goto end;
inside:
            if (n++ < 3)
                goto inside;
            for (int j = 0; j < 3; j++) {
                if (j == 1)
                    continue;
                break;
            }
            switch (k) {
            case 7:
                break;
            case 8:
// CHECK: :[[#@LINE+1]]:17: error: this would leave the block of 'data' before its arrays are back; leave it at its end
                continue;
            }
        }
    }
end:
    return 0;
}
// Jumps whose labels are addresses, or names of an assembler statement.
int computed(int n, float *x)
{
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: this would enter the block of 'data' behind its beginning
    void *to = n > 3 ? &&in : &&out;
    if (n > 1)
        goto *to;
#pragma kmm data map(x[0:n])
    {
    in:
        x[0]++;
    }
out:
    return 0;
}
int by_assembler(int n, float *x)
{
// CHECK: :[[#@LINE+1]]:5: error: this would enter the block of 'task' behind its beginning
    asm goto("" : : "r"(n) : "memory" : in, out);
#pragma kmm task update(x[0:n])
    {
        x[0]++;
        asm goto("" : : : : in);
    in:
// CHECK: :[[#@LINE+1]]:9: error: this would leave the task before it has ended; leave it at its end
        asm goto("" : : : : out);
    }
out:
    return 0;
}
// CHECK-NOT: error:
int around(int n, float *x)
{
    static void *const to[] = {&&before, &&behind};
    goto *to[n > 3];
before:
    asm goto("" : : : : behind);
#pragma kmm data map(x[0:n])
    {
        asm("" : : "r"(x) : "memory");
    }
behind:
    return 0;
}
