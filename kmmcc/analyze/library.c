/* SPDX-License-Identifier: Apache-2.0 */
/* What the names of library functions say of what they do besides working on their arguments. */
#include "analyze/library.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "analyze/flow.h"
#include "base/arena.h"
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

static bool is_null(CXCursor argument)
{
    CXCursor c = flow_operand(argument);
    while (clang_getCursorKind(c) == CXCursor_CStyleCastExpr)
        c = flow_operand(cursor_last_child(c));
    CXEvalResult result =
        clang_getCursorKind(c) == CXCursor_IntegerLiteral ? clang_Cursor_Evaluate(c) : NULL;
    bool is_zero = result && clang_EvalResult_getAsLongLong(result) == 0;
    if (result)
        clang_EvalResult_dispose(result);
    return is_zero || clang_getCursorKind(c) == CXCursor_CXXNullPtrLiteralExpr ||
           clang_getCursorKind(c) == CXCursor_GNUNullExpr;
}

/* Functions whose argument of this number is where they keep what they need from call to call.
 * Given a null pointer, they keep it for the program. */
static bool keeps_for_null(CXCursor call)
{
    static const struct {
        const char *name;
        int argument;
    } functions[] = {{"tmpnam", 0},    {"ctermid", 0},    {"cuserid", 0},    {"mbrlen", 2},
                     {"mbrtowc", 3},   {"mbsrtowcs", 3},  {"mbsnrtowcs", 4}, {"wcrtomb", 2},
                     {"wcsrtombs", 3}, {"wcsnrtombs", 4}, {"mbrtoc16", 3},   {"mbrtoc32", 3},
                     {"c16rtomb", 2},  {"c32rtomb", 2}};
    for (size_t k = 0; k < sizeof(functions) / sizeof(*functions); k++)
        if (!strcmp(cursor_name(call), functions[k].name) &&
            clang_Cursor_getNumArguments(call) > functions[k].argument)
            return is_null(clang_Cursor_getArgument(call, (unsigned)functions[k].argument));
    return false;
}

bool library_asks_for_exceptions(const char *name)
{
    static const char *const names[] = {"fetestexcept", "fegetexceptflag", NULL};
    return text_is_one_of(name, names);
}

/* Those that attributes(7) calls MT-Unsafe for a race about a state of their own, or because they
 * change the locale or the environment; those that change the process's folder or file mask; and
 * those that take from a stream. Functions that are wrong only if what they return is overwritten
 * while a message is printed, such as strerror, are not among them. */
bool library_keeps_state(CXCursor call)
{
    static const char names[] =
        " rand srand random srandom initstate setstate drand48 lrand48 mrand48 srand48 "
        "seed48 lcong48 strtok asctime ctime gmtime localtime getdate setlocale "
        "getchar scanf vscanf gets getc fgetc fgets fread fscanf "
        "vfscanf getline getdelim ungetc getw getwchar wscanf vwscanf getwc fgetwc "
        "fgetws fwscanf vfwscanf ungetwc getchar_unlocked getc_unlocked fgetc_unlocked "
        "fgets_unlocked fread_unlocked getwchar_unlocked getwc_unlocked fgetwc_unlocked "
        "fgetws_unlocked mblen mbtowc wctomb l64a ecvt fcvt qecvt qfcvt hsearch hcreate "
        "hdestroy setenv unsetenv putenv clearenv chdir fchdir umask getopt getopt_long "
        "getopt_long_only crypt encrypt setkey crypt_gensalt re_comp re_exec setlogmask "
        "fcloseall getpwnam getpwuid getpwent setpwent endpwent getgrnam getgrgid "
        "getgrent setgrent endgrent getspnam getspent setspent endspent getlogin getpass "
        "ttyname ptsname getutent getutid getutline pututline setutent endutent utmpname "
        "getmntent getfsent getfsspec getfsfile setfsent endfsent gethostbyname "
        "gethostbyname2 gethostbyaddr gethostent sethostent endhostent getnetbyname "
        "getnetbyaddr getnetent setnetent endnetent getprotobyname getprotobynumber "
        "getprotoent setprotoent endprotoent getservbyname getservbyport getservent "
        "setservent endservent getrpcent getrpcbyname getrpcbynumber getttyent getttynam "
        "setttyent endttyent getusershell setusershell endusershell getaliasent "
        "getaliasbyname getnetgrent setnetgrent endnetgrent innetgr ether_aton "
        "ether_ntoa ";
    const char *name = arena_printf(" %s ", cursor_name(call));
    return strstr(names, name) || keeps_for_null(call);
}

bool library_is_state(CXCursor variable)
{
    return !strcmp(cursor_name(variable), "signgam") || !strcmp(cursor_name(variable), "cin") ||
           !strcmp(cursor_name(variable), "wcin");
}

bool library_numbers(const char *code)
{
    static const char *const words[] = {"fetch_add",
                                        "fetch_sub",
                                        "add_fetch",
                                        "sub_fetch",
                                        "fetch_and_add",
                                        "add_and_fetch",
                                        "omp_get_thread_num",
                                        "pthread_self",
                                        "thrd_current",
                                        "gettid",
                                        "get_id",
                                        "sched_getcpu",
                                        "++",
                                        NULL};
    for (size_t k = 0; words[k]; k++)
        if (strstr(code, words[k]))
            return true;
    return false;
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

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns how often the text has the name as a word. */
static int count_words(const char *text, const char *end, const char *name)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, name)) && at < end; at++)
        count += (at == text || !is_word(at[-1])) && !is_word(at[strlen(name)]);
    return count;
}

bool library_makes_private(const char *text, const char *name)
{
    while ((text = strstr(text, "threadprivate"))) {
        const char *end = text + strcspn(text, ")\n");
        if (count_words(text, end, name))
            return true;
        text = end;
    }
    return false;
}

bool library_is_of_thread(CXCursor call, const char *text)
{
    static const char *const always[] = {"pthread_self", "gettid", "thrd_current", "raise", NULL};
    static const char *const once[] = {"fesetround", "uselocale", "pthread_sigmask", "sigprocmask",
                                       NULL};
    static const char *const thrown[] = {"current_exception", "uncaught_exception",
                                         "uncaught_exceptions", NULL};
    static const char *const team[] = {"omp_get_max_threads", "omp_get_num_threads",
                                       "omp_get_thread_num", NULL};
    const char *name = cursor_name(call), *end = text + strlen(text);
    CXCursor scope = clang_getCursorSemanticParent(clang_getCursorReferenced(call));
    if (text_is_one_of(name, once))
        return count_words(text, end, name) == 1;
    if (text_is_one_of(name, thrown))
        return *text && !count_words(text, end, "catch") && !count_words(text, end, "try");
    if (text_is_one_of(name, team))
        return *text && !strstr(text, "omp parallel");
    return text_is_one_of(name, always) ||
           (!strcmp(name, "get_id") && !strcmp(cursor_name(scope), "this_thread"));
}
