#pragma once
#define DO_PRAGMA(x) _Pragma(#x)
#define SPLIT(axes, ...) DO_PRAGMA(kmm parallel axes __VA_ARGS__)
