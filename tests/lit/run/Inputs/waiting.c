// Macros that only the command line gives, or that name the directive.
#ifndef WAIT_TWICE
#define STRING(...) #__VA_ARGS__
#define PRAGMA(...) _Pragma(STRING(__VA_ARGS__))
#define NAMED(name) PRAGMA(kmm name)
#define LATER wait
#define WAIT_TWICE NAMED(LATER) NAMED(LATER)
#endif
void twice(void)
{
    // GIVEN: kmm_directive_wait({{.*}}waiting.c", [[#@LINE+2]]); // _Pragma("kmm wait")
    // GIVEN: kmm_directive_wait({{.*}}waiting.c", [[#@LINE+1]]); // _Pragma("kmm wait")
    WAIT_TWICE
}
