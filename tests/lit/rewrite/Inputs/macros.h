#ifndef MACROS_H
#define MACROS_H
// As real headers have them: a level of checks around a level of launching.
#define MACRO_CHECK() do { if (cudaGetLastError() != cudaSuccess) printf("launch failed\n"); } while (0)
#define MACRO_LAUNCH(kernel, grid, block, ...) do { kernel<<<(grid), (block)>>>(__VA_ARGS__); MACRO_CHECK(); } while (0)
#define MACRO_OUTER(kernel, ...) MACRO_LAUNCH(kernel, BLOCKS, BLOCK, __VA_ARGS__)
#endif
