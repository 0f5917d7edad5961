// Macros that only the command line gives.
void twice(void)
{
    // GIVEN: kmm_directive_wait({{.*}}waiting.c", [[#@LINE+2]]); // _Pragma("kmm wait")
    // GIVEN: kmm_directive_wait({{.*}}waiting.c", [[#@LINE+1]]); // _Pragma("kmm wait")
    WAIT_TWICE
}
