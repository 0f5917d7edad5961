/* SPDX-License-Identifier: Apache-2.0 */
/* Runs commands as --verbose and -### say. */
#include "driver/run.h"

#include "base/diag.h"
#include "base/process.h"

int run_command(const options_t *o, const list_t *command)
{
    if (o->dry_run || o->verbose)
        process_print(command);
    return o->dry_run ? 0 : process_run(command);
}

int run_in_place(const options_t *o, const list_t *command)
{
    if (o->dry_run || o->verbose)
        process_print(command);
    diag_summary();
    return o->dry_run ? 0 : process_replace(command);
}
