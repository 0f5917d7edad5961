// SPDX-License-Identifier: Apache-2.0
// RMM's names over kmm/resource.h, header only: programs that were written for RMM compile with
// it. docs/resources.md says what is different. With -I of the folder kmm/rmm/as_rmm, their own
// #include <rmm/...> lines find these headers. Needs CUDA's headers and links CUDA's runtime.
#ifndef KMM_RMM_HPP
#define KMM_RMM_HPP

#include "rmm/allocators.hpp"
#include "rmm/containers.hpp"
#include "rmm/pools.hpp"
#if __has_include(<thrust/version.h>)
#include "rmm/thrust.hpp"
#endif
#include "rmm/watching.hpp"

#endif
