#define WAIT_ONCE _Pragma("kmm wait")
