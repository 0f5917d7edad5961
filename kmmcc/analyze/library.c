/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of library functions say of what they do besides working on their arguments. */
#include "analyze/library.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "analyze/flow.h"
#include "base/text.h"
#include "clang/cursor.h"

/* True if the name has the word: `lock` is in my_lock and mutexLock, and not in clock or block. */
static bool has_word(const char *name, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = name; *at; at++) {
        bool begins = at == name || !isalpha((unsigned char)at[-1]) ||
                      (islower((unsigned char)at[-1]) && isupper((unsigned char)*at));
        if (begins && !strncmp(at + 1, word + 1, length - 1) &&
            tolower((unsigned char)*at) == *word && !islower((unsigned char)at[length]))
            return true;
    }
    return false;
}

bool library_locks(const char *name)
{
    static const char *const words[] = {"lock", "trylock", "timedlock", "wrlock", "acquire", NULL};
    static const char *const names[] = {"call_once",
                                        "pthread_once",
                                        "sem_wait",
                                        "EnterCriticalSection",
                                        "atomic_flag_test_and_set",
                                        "atomic_flag_test_and_set_explicit",
                                        "test_and_set",
                                        "__sync_lock_test_and_set",
                                        "__atomic_test_and_set",
                                        NULL};
    for (size_t k = 0; words[k]; k++)
        if (has_word(name, words[k]))
            return true;
    return text_is_one_of(name, names);
}

bool library_keeps_state(const char *name)
{
    static const char *const names[] = {
        "rand",      "srand",   "random",    "srandom", "initstate", "setstate", "drand48",
        "lrand48",   "mrand48", "srand48",   "seed48",  "lcong48",   "strtok",   "asctime",
        "ctime",     "gmtime",  "localtime", "getchar", "scanf",     "gets",     "getc",
        "fgetc",     "fgets",   "fread",     "fscanf",  "getline",   "ungetc",   "mblen",
        "mbtowc",    "wctomb",  "l64a",      "ecvt",    "fcvt",      "hsearch",  "hcreate",
        "setlocale", NULL};
    return text_is_one_of(name, names);
}

static bool is_error_stream(CXCursor argument)
{
    return !strcmp(cursor_name(clang_getCursorReferenced(flow_operand(argument))), "stderr");
}

bool library_prints(CXCursor call)
{
    static const char *const always[] = {"printf", "vprintf", "puts",     "putchar", "wprintf",
                                         "print",  "println", "putwchar", NULL};
    static const char *const first[] = {"fprintf", "vfprintf", "fwprintf", NULL};
    static const char *const last[] = {"fputs",  "fputc",  "putc", "fwrite",
                                       "fputwc", "fputws", NULL};
    const char *name = cursor_name(call);
    int count = clang_Cursor_getNumArguments(call);
    if (text_is_one_of(name, always))
        return true;
    if (count < 1 || !(text_is_one_of(name, first) || text_is_one_of(name, last)))
        return false;
    int stream = text_is_one_of(name, first) ? 0 : count - 1;
    return !is_error_stream(clang_Cursor_getArgument(call, (unsigned)stream));
}

bool library_shares(CXType type)
{
    static const char *const begins[] = {"pthread_", "sem_t", "mtx_t", "cnd_t", "once_flag",
                                         "atomic_",  "FILE",  "omp_",  NULL};
    while (type_is_array(type))
        type = clang_getArrayElementType(type);
    CXCursor declaration = clang_getTypeDeclaration(clang_getCanonicalType(type));
    const char *name = clang_text(clang_getTypeSpelling(type));
    for (size_t k = 0; begins[k]; k++)
        if (!strncmp(name, begins[k], strlen(begins[k])))
            return true;
    return !strncmp(name, "std::atomic", strlen("std::atomic")) ||
           !strncmp(name, "std::mutex", strlen("std::mutex")) ||
           clang_getCanonicalType(type).kind == CXType_Atomic ||
           (clang_getCursorKind(declaration) == CXCursor_ClassDecl &&
            !strncmp(cursor_name(declaration), "basic_ostream", strlen("basic_ostream")));
}
