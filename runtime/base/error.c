/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: their names, the text of each thread's last one, and the runtime's first. */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/exit_status.h"
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
static _Thread_local bool is_late; /* error_text is about work that was submitted before the call */

int kmm__error_set(int code, const char *format, ...)
{
    char text[sizeof(error_text)]; /* a copy, because an argument may be error_text itself */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    memcpy(error_text, text, sizeof(text));
    is_late = false;
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
    if (code == KMM_E_ACCESS)
        kmm__exit_violation();
    if (rt->error.code || code == KMM_E_POISONED)
        return;
    rt->error.code = code;
    rt->error.is_told = false;
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
    if (e.code == 0)
        return 0;
    kmm__error_set(e.code, "%s", e.text);
    is_late = true;
    return e.code;
}

int kmm__error_tell(kmm_runtime_t *rt, int code)
{
    int told = rt->error.code ? kmm__error_set(rt->error.code, "%s", rt->error.text)
                              : kmm__error_set(code, "%s", kmm_error_string(code));
    rt->error.is_told = true;
    is_late = true;
    return told;
}

bool kmm__error_is_told(kmm_runtime_t *rt)
{
    pthread_mutex_lock(&rt->lock);
    bool is_told = rt->error.is_told;
    pthread_mutex_unlock(&rt->lock);
    return is_told;
}

bool kmm__error_is_late(void)
{
    return is_late;
}

KMM__API const char *kmm_error_text(kmm_runtime_t *rt)
{
    (void)rt;
    return error_text;
}
