#ifndef LISTED
#define LISTED
#endif
ENTRY(x, 1)
