#define LINK "launch.h"
#include LINK /* whose pragma counts */
