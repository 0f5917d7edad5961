/* SPDX-License-Identifier: Apache-2.0 */
/* The program kmmcc: reads the command line and runs it. A link named nvcc, hipcc or cc chooses the
 * real compiler of that name. */
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/diag.h"
#include "base/options.h"
#include "base/process.h"
#include "base/toolchain.h"
#include "driver/driver.h"
#include "driver/options.h"

static bool is_terminal(void)
{
    const char *term = getenv("TERM");
    return isatty(STDERR_FILENO) && term && *term && !getenv("NO_COLOR");
}

int main(int argc, char **argv)
{
    diag_colour(is_terminal());
    process_start();
    options_t *o = options_read(argc, argv);
    const char *name = toolchain_called_as(argv[0]);
    if (o && name && !o->compiler)
        o->compiler = name;
    int status = o ? driver_run(o) : 1;
    status = status ? status : diag_error_count() != 0;
    return driver_finish(status);
}
