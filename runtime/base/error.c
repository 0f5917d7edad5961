/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: their names, the text of each thread's last one, and the runtime's first. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/runtime.h"

KMM__API const char *kmm_error_string(int code)
{
    switch (code) {
    case 0: return "no error";
#define KMM_X(name, number, text)                                                                  \
    case number: return text;
        KMM_ERROR_TABLE(KMM_X)
#undef KMM_X
    }
    return "unknown error";
}

static _Thread_local char error_text[512] = "no error";

int kmm__error_set(int code, const char *format, ...)
{
    char text[sizeof(error_text)]; /* the arguments may be the text itself */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    memcpy(error_text, text, sizeof(text));
    return code;
}

const char *kmm__error_get(void)
{
    return error_text;
}

bool kmm__error_is_of_disk(int code)
{
    return code == KMM_E_DISK_FULL || code == KMM_E_CORRUPT || code == KMM_E_IO;
}

void kmm__error_note(kmm_runtime_t *rt, int code, const char *format, ...)
{
    va_list args;
    if (rt->error.code || code == KMM_E_POISONED)
        return;
    rt->error.code = code;
    va_start(args, format);
    vsnprintf(rt->error.text, sizeof(rt->error.text), format, args);
    va_end(args);
}

int kmm__error_take(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&rt->lock);
    kmm__error_t e = rt->error;
    rt->error.code = 0;
    pthread_mutex_unlock(&rt->lock);
    return e.code ? kmm__error_set(e.code, "%s", e.text) : 0;
}

KMM__API const char *kmm_error_text(kmm_runtime_t *rt)
{
    (void)rt;
    return error_text;
}
