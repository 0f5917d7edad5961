/* SPDX-License-Identifier: Apache-2.0 */
/* The names of collective operations and of the index variables, in CUDA, HIP and cooperative
 * groups. */
#ifndef KMMCC_CPU_PROGRAM_COLLECTIVES_H
#define KMMCC_CPU_PROGRAM_COLLECTIVES_H

/* Each list ends with NULL. */
extern const char *const builtin_collectives[]; /* of blocks and warps */
extern const char *const group_collectives[];   /* of cooperative groups */
extern const char *const group_names[]; /* of these, what reads the index variables besides */
extern const char *const index_variables[];

#endif
