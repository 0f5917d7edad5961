#define QUOTED(...) do { const char *text = #__VA_ARGS__; (void)text; __VA_ARGS__; } while (0)
#define UNSEEN_WAIT _Pragma("kmm wait")
