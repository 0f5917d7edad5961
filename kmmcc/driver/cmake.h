/* SPDX-License-Identifier: Apache-2.0 */
/* The command by which CMake finds out how its CUDA compiler links programs. */
#ifndef KMMCC_DRIVER_CMAKE_H
#define KMMCC_DRIVER_CMAKE_H

#include <stdbool.h>

#include "base/list.h"
#include "base/options.h"

/* True if the command line is that command. */
bool cmake_asks(const options_t *o);
/* Runs nvcc's command, and has CMake link by kmmcc. Returns the exit status. */
int cmake_answer(const options_t *o, const list_t *command);

#endif
