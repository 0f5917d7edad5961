/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a reduction has a meaning for its elements, and maps C, CUDA and C++ types to those
 * of kmm/launch.h. */
#include "analyze/reduce.h"

#include <stdbool.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "clang/cursor.h"
#include "kmm/launch.h"

/* ---- Numbers ---- */

/* The last part of a record's name, with its template arguments: "complex<float>" of
 * "std::complex<float>". */
static const char *record_name(CXType type)
{
    char *name = clang_text(clang_getTypeSpelling(clang_getCanonicalType(type)));
    const char *last = name;
    for (const char *at = name; *at && *at != '<'; at++)
        if (*at == ' ' || *at == ':')
            last = at + 1;
    return last;
}

/* Structs that stand for numbers. `type` is as the program wrote it: only a typedef tells
 * cuFloatComplex from float2. */
static bool record_type(CXType type, reduced_t *out)
{
    static const char *const halves[] = {"__half", "half", "kmm_host_narrow<kmm_host_half_format>",
                                         NULL};
    static const char *const bfloats[] = {"__nv_bfloat16", "__hip_bfloat16", "hip_bfloat16",
                                          "kmm_host_narrow<kmm_host_bfloat16_format>", NULL};
    static const char *const floats[] = {"float2", "HIP_vector_type<float, 2>", NULL},
                             *const doubles[] = {"double2", "HIP_vector_type<double, 2>", NULL};
    static const char *const complex[] = {"cuComplex",  "cuFloatComplex",  "cuDoubleComplex",
                                          "hipComplex", "hipFloatComplex", "hipDoubleComplex",
                                          NULL};
    const char *name = record_name(type), *written = clang_text(clang_getTypeSpelling(type));
    const char *space = strrchr(written, ' ');
    long long bytes = clang_Type_getSizeOf(type);
    if (bytes == 2 && (text_is_one_of(name, halves) || text_is_one_of(name, bfloats)))
        return out->type = text_is_one_of(name, halves) ? KMM_HALF : KMM_BFLOAT16, true;
    out->is_vector = text_is_one_of(name, floats) || text_is_one_of(name, doubles);
    bool is_float = text_is_one_of(name, floats) || !strcmp(name, "complex<float>"),
         is_double = text_is_one_of(name, doubles) || !strcmp(name, "complex<double>");
    if (out->is_vector && text_is_one_of(space ? space + 1 : written, complex))
        out->is_vector = false;
    if (!(is_float && bytes == 8) && !(is_double && bytes == 16))
        return false;
    return out->type = is_float ? KMM_COMPLEX_FLOAT : KMM_COMPLEX_DOUBLE, true;
}

static bool complex_type(CXType type, reduced_t *out)
{
    CXType part = clang_getCanonicalType(clang_getElementType(type));
    out->type = part.kind == CXType_Float ? KMM_COMPLEX_FLOAT : KMM_COMPLEX_DOUBLE;
    return part.kind == CXType_Float || part.kind == CXType_Double;
}

/* The type of an atomic's value. Its representation is that of the value where it has its size. */
static CXType plain_type(CXType written)
{
    CXType type = clang_getCanonicalType(written);
    CXType value = type.kind == CXType_Atomic ? clang_Type_getValueType(type) : type;
    bool is_same = clang_Type_getSizeOf(value) == clang_Type_getSizeOf(type);
    return is_same ? clang_getCanonicalType(value) : type;
}

static bool number_type(CXType written, reduced_t *out)
{
    CXType type = plain_type(written);
    long long bytes = clang_Type_getSizeOf(type);
    int log = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : -1;
    out->is_bool = type.kind == CXType_Bool;
    switch (type.kind) {
    case CXType_Float: return out->type = KMM_FLOAT, true;
    case CXType_Double: return out->type = KMM_DOUBLE, true;
    case CXType_Half:
    case CXType_Float16: return out->type = KMM_HALF, true;
    case CXType_BFloat16: return out->type = KMM_BFLOAT16, true;
    case CXType_Complex: return complex_type(type, out);
    case CXType_Record: return record_type(written, out);
    case CXType_Char_S:
    case CXType_SChar:
    case CXType_Short:
    case CXType_Int:
    case CXType_Long:
    case CXType_LongLong: return out->type = KMM_INT8 + log, log >= 0;
    case CXType_Bool:
    case CXType_Char_U:
    case CXType_UChar:
    case CXType_UShort:
    case CXType_UInt:
    case CXType_ULong:
    case CXType_ULongLong: return out->type = KMM_UINT8 + log, log >= 0;
    default: return false;
    }
}

static bool is_complex(kmm_type_t type)
{
    return type == KMM_COMPLEX_FLOAT || type == KMM_COMPLEX_DOUBLE;
}

static bool is_floating(kmm_type_t type)
{
    return type >= KMM_FLOAT;
}

/* ---- Structs of a value and an index ---- */

typedef struct fields {
    CXCursor at[3];
    int count;
} fields_t;

static enum CXVisitorResult add_field(CXCursor c, CXClientData data)
{
    fields_t *f = data;
    if (f->count < 3)
        f->at[f->count++] = c;
    return CXVisit_Continue;
}

static bool is_index(CXCursor field)
{
    reduced_t r = {0};
    if (clang_Cursor_isBitField(field) || !number_type(clang_getCursorType(field), &r))
        return false;
    return r.type == KMM_INT32 || r.type == KMM_INT64 || r.type == KMM_UINT32 ||
           r.type == KMM_UINT64;
}

/* Returns the field that is the index: the integer of 32 or 64 bits. If both fields are, it is the
 * one with such a name, or else the second. -1 if none is. */
static int index_field(const fields_t *f)
{
    static const char *const names[] = {"index", "idx", "i", "key", NULL};
    bool first = is_index(f->at[0]), second = is_index(f->at[1]);
    if (!first && !second)
        return -1;
    if (first && second) {
        bool named = text_is_one_of(cursor_name(f->at[0]), names);
        return named && !text_is_one_of(cursor_name(f->at[1]), names) ? 0 : 1;
    }
    return first ? 0 : 1;
}

static bool pair_type(CXType type, reduced_t *out)
{
    fields_t f = {.count = 0};
    reduced_t value = {0}, index = {0};
    type = clang_getCanonicalType(type);
    if (type.kind != CXType_Record || clang_Type_getSizeOf(type) > 1024)
        return false;
    clang_Type_visitFields(type, add_field, &f);
    int k = f.count == 2 ? index_field(&f) : -1;
    if (k < 0 || clang_Cursor_isBitField(f.at[1 - k]) ||
        !number_type(clang_getCursorType(f.at[1 - k]), &value) || is_complex(value.type))
        return false;
    number_type(clang_getCursorType(f.at[k]), &index);
    *out = (reduced_t){.type = value.type,
                       .is_pair = true,
                       .index = index.type,
                       .bytes = clang_Type_getSizeOf(type)};
    out->value_at = clang_Cursor_getOffsetOfField(f.at[1 - k]) / 8;
    out->index_at = clang_Cursor_getOffsetOfField(f.at[k]) / 8;
    return out->value_at >= 0 && out->index_at >= 0;
}

/* ---- The check ---- */

/* Returns the type of the elements of the item's innermost arrays, as the program wrote it. */
static CXType written_element(CXType type)
{
    for (;;) {
        CXType element = clang_getArrayElementType(type);
        if (element.kind == CXType_Invalid)
            element = clang_getPointeeType(type);
        if (element.kind == CXType_Invalid) {
            CXType canonical = clang_getCanonicalType(type);
            element = clang_getArrayElementType(canonical);
            if (element.kind == CXType_Invalid)
                element = clang_getPointeeType(canonical);
        }
        enum CXTypeKind kind = clang_getCanonicalType(element).kind;
        if (kind != CXType_ConstantArray && kind != CXType_VariableArray &&
            kind != CXType_IncompleteArray)
            return element;
        type = element;
    }
}

/* Why the operator has no meaning for such elements; NULL: it has one. */
static const char *mistake(kmm_op_t op, const reduced_t *r)
{
    bool bits = op == KMM_OP_BAND || op == KMM_OP_BOR || op == KMM_OP_BXOR;
    if (r->is_vector && op != KMM_OP_ADD)
        return "two numbers have + only; a complex type, such as cuFloatComplex, has *";
    if (is_complex(r->type) && op != KMM_OP_ADD && op != KMM_OP_MUL)
        return "complex numbers have + and *";
    if (bits && is_floating(r->type))
        return "this reduction works on integers; floating-point elements have + * min max && and "
               "||";
    if (r->is_bool && (op == KMM_OP_ADD || op == KMM_OP_MUL))
        return "elements of type bool have && and ||";
    return NULL;
}

void reduce_check(unit_t *u, item_t *item, CXType base)
{
    CXType element = written_element(base);
    const char *type = clang_text(clang_getTypeSpelling(element)),
               *name = unit_words(u, item->base->begin, item->base->end);
    bool is_arg = item->op == KMM_OP_ARGMIN || item->op == KMM_OP_ARGMAX;
    item->reduced = (reduced_t){.type = KMM_INT32};
    if (is_arg) {
        if (!pair_type(element, &item->reduced))
            diag_at(SEVERITY_ERROR, u->source, item->begin, item->end,
                    "argmin and argmax work on structs of two members, a number and an index of 32 "
                    "or 64 bits, but '%s' has elements of type '%s'",
                    name, type);
        return;
    }
    if (!number_type(element, &item->reduced)) {
        diag_at(SEVERITY_ERROR, u->source, item->begin, item->end,
                "a reduction works on integers of 8 to 64 bits, half, bfloat16, float, double and "
                "complex numbers, but '%s' has elements of type '%s'",
                name, type);
        return;
    }
    const char *why = mistake(item->op, &item->reduced);
    if (why)
        diag_at(SEVERITY_ERROR, u->source, item->begin, item->end,
                "'%s' has elements of type '%s': %s", name, type, why);
}
