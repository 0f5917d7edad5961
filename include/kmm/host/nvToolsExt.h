/* SPDX-License-Identifier: Apache-2.0 */
/* NVTX marks and ranges for profilers. On the CPU they do nothing. */
#ifndef KMM_HOST_NVTOOLSEXT_H
#define KMM_HOST_NVTOOLSEXT_H
#include <stdint.h>
typedef uint64_t nvtxRangeId_t;
static inline int nvtxRangePushA(const char *) { return 0; }
static inline int nvtxRangePush(const char *) { return 0; }
static inline int nvtxRangePop() { return 0; }
static inline void nvtxMarkA(const char *) {}
static inline void nvtxMark(const char *) {}
static inline nvtxRangeId_t nvtxRangeStartA(const char *) { return 0; }
static inline nvtxRangeId_t nvtxRangeStart(const char *) { return 0; }
static inline void nvtxRangeEnd(nvtxRangeId_t) {}
#endif
