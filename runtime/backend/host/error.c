/* SPDX-License-Identifier: Apache-2.0 */
/* The error text of each thread. */
#include "backend/host/error.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char error_buffer[256] = "no error";

int kmm__host_error(int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error_buffer, sizeof(error_buffer), format, list);
    va_end(list);
    return code;
}

const char *kmm__host_error_text(void)
{
    return error_buffer;
}
