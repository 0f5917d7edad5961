#include "included.h"
#undef INCLUDED
#define INCLUDED 40
