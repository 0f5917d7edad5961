// A file without pragmas, whose setjmp kmmcc does not see.
#include <setjmp.h>

static jmp_buf buffer;

int guarded(void (*f)(void))
{
    if (setjmp(buffer))
        return 1;
    f();
    return 0;
}

void give_up(void)
{
    longjmp(buffer, 1);
}
