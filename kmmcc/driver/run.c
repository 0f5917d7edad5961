/* SPDX-License-Identifier: Apache-2.0 */
/* Runs commands as --verbose and -### say. */
#include "driver/run.h"

#include "base/process.h"
#include "driver/write.h"

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
    if (write_messages(true))
        return 1;
    return o->dry_run ? 0 : process_replace(command);
}
