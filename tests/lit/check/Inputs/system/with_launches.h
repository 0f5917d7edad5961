#include "launches.h"
