#pragma once
#define INCLUDED 3
