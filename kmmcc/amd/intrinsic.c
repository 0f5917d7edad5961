/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM's own functions by their names. Behind a name, or a part that ends with a full stop, types
 * follow: "llvm.fma.f32". */
#include "amd/intrinsic.h"

#include <stddef.h>
#include <string.h>

/* Whether the name is one of the list, or begins with it and a full stop. */
static bool is_in(const char *name, const char *const *list)
{
    for (; *list; list++) {
        size_t n = strlen(*list);
        if (!strncmp(name, *list, n) && (!name[n] || name[n] == '.' || (*list)[n - 1] == '.'))
            return true;
    }
    return false;
}

/* Behind "llvm.". */
static const char *const harmless[] = {"abs",
                                       "allow",
                                       "arithmetic.fence",
                                       "assume",
                                       "bitreverse",
                                       "bswap",
                                       "canonicalize",
                                       "ceil",
                                       "convert.",
                                       "copysign",
                                       "cos",
                                       "cosh",
                                       "ctlz",
                                       "ctpop",
                                       "cttz",
                                       "dbg.",
                                       "debugtrap",
                                       "donothing",
                                       "exp",
                                       "exp10",
                                       "exp2",
                                       "expect",
                                       "fabs",
                                       "floor",
                                       "fma",
                                       "fmuladd",
                                       "fptosi.sat",
                                       "fptoui.sat",
                                       "fptrunc",
                                       "frexp",
                                       "fshl",
                                       "fshr",
                                       "get.rounding",
                                       "invariant.",
                                       "is.constant",
                                       "is.fpclass",
                                       "ldexp",
                                       "lifetime.",
                                       "llrint",
                                       "llround",
                                       "log",
                                       "log10",
                                       "log2",
                                       "lrint",
                                       "lround",
                                       "maximum",
                                       "maximumnum",
                                       "maxnum",
                                       "minimum",
                                       "minimumnum",
                                       "minnum",
                                       "nearbyint",
                                       "objectsize",
                                       "pow",
                                       "powi",
                                       "ptrmask",
                                       "rint",
                                       "round",
                                       "roundeven",
                                       "sadd.",
                                       "scmp",
                                       "sdiv.fix",
                                       "sideeffect",
                                       "sin",
                                       "sincos",
                                       "sinh",
                                       "smax",
                                       "smin",
                                       "smul.",
                                       "sqrt",
                                       "sshl.",
                                       "ssub.",
                                       "stackrestore",
                                       "stacksave",
                                       "tan",
                                       "tanh",
                                       "trap",
                                       "trunc",
                                       "uadd.",
                                       "ubsantrap",
                                       "ucmp",
                                       "umax",
                                       "umin",
                                       "umul.",
                                       "ushl.",
                                       "usub.",
                                       "vector.extract",
                                       "vector.insert",
                                       "vector.reduce.",
                                       "vector.reverse",
                                       "experimental.noalias.scope.decl",
                                       "readcyclecounter",
                                       "experimental.convergence.",
                                       "readsteadycounter",
                                       "fake.use",
                                       "read_register",
                                       "prefetch",
                                       NULL};

/* Behind "llvm.amdgcn.". Those of ds access memory that a block shares. */
static const char *const amd_harmless[] = {"alignbyte",
                                           "ballot",
                                           "bitop3",
                                           "class",
                                           "cos",
                                           "cubeid",
                                           "cubema",
                                           "cubesc",
                                           "cubetc",
                                           "cvt.",
                                           "dispatch.id",
                                           "dispatch.ptr",
                                           "div.",
                                           "dot2.",
                                           "ds.add",
                                           "ds.append",
                                           "ds.bpermute",
                                           "ds.consume",
                                           "ds.fadd",
                                           "ds.fmax",
                                           "ds.fmin",
                                           "ds.permute",
                                           "ds.swizzle",
                                           "endpgm",
                                           "exp2",
                                           "fcmp",
                                           "fdiv.fast",
                                           "fdot2",
                                           "fma.legacy",
                                           "fmad.ftz",
                                           "fmed3",
                                           "fmul.legacy",
                                           "fract",
                                           "frexp.",
                                           "grid.size",
                                           "groupstaticsize",
                                           "icmp",
                                           "iglp.opt",
                                           "implicitarg.ptr",
                                           "interp.",
                                           "inverse.ballot",
                                           "is.private",
                                           "is.shared",
                                           "kernarg.segment.ptr",
                                           "ldexp",
                                           "lerp",
                                           "live.mask",
                                           "log",
                                           "log.clamp",
                                           "mbcnt.hi",
                                           "mbcnt.lo",
                                           "mfma.",
                                           "mov.dpp",
                                           "mov.dpp8",
                                           "mqsad.",
                                           "msad.",
                                           "mul.i24",
                                           "mul.u24",
                                           "mulhi.",
                                           "perm",
                                           "permlane16",
                                           "permlane16.swap",
                                           "permlane32.swap",
                                           "permlane64",
                                           "permlanex16",
                                           "prng.b32",
                                           "qsad.",
                                           "queue.ptr",
                                           "rcp",
                                           "rcp.legacy",
                                           "readfirstlane",
                                           "readlane",
                                           "rsq",
                                           "rsq.clamp",
                                           "rsq.legacy",
                                           "s.barrier",
                                           "s.bitreplicate",
                                           "s.getreg",
                                           "s.memrealtime",
                                           "s.memtime",
                                           "s.nop",
                                           "s.sendmsg",
                                           "s.setprio",
                                           "s.setreg",
                                           "s.sleep",
                                           "s.waitcnt",
                                           "sad.",
                                           "sbfe",
                                           "sched.barrier",
                                           "sched.group.barrier",
                                           "sdot2",
                                           "sdot4",
                                           "sdot8",
                                           "set.inactive",
                                           "sffbh",
                                           "sin",
                                           "smfmac.",
                                           "sqrt",
                                           "strict.wqm",
                                           "strict.wwm",
                                           "sudot4",
                                           "sudot8",
                                           "swmmac.",
                                           "trig.preop",
                                           "ubfe",
                                           "udot2",
                                           "udot4",
                                           "udot8",
                                           "unreachable",
                                           "update.dpp",
                                           "wave.barrier",
                                           "wave.reduce.",
                                           "wavefrontsize",
                                           "wmma.",
                                           "workgroup.id.x",
                                           "workgroup.id.y",
                                           "workgroup.id.z",
                                           "workitem.id.x",
                                           "workitem.id.y",
                                           "workitem.id.z",
                                           "writelane",
                                           "wqm",
                                           "wwm",
                                           "reloc.constant",
                                           "s.get.waveid.in.workgroup",
                                           "permlane16.var",
                                           "permlanex16.var",
                                           NULL};

static const char *const amd_atomics[] = {"atomic.inc", "atomic.dec", "flat.atomic.",
                                          "global.atomic.f", NULL};

intrinsic_kind_t intrinsic_kind(const char *name)
{
    static const char amd[] = "llvm.amdgcn.";
    static const char *const copies[] = {"memcpy.p", "memmove.p", NULL};
    if (!strncmp(name, amd, sizeof(amd) - 1)) {
        name += sizeof(amd) - 1;
        for (int k = 0; amd_atomics[k]; k++)
            if (!strncmp(name, amd_atomics[k], strlen(amd_atomics[k])))
                return INTRINSIC_ATOMIC;
        return is_in(name, amd_harmless) ? INTRINSIC_HARMLESS : INTRINSIC_UNKNOWN;
    }
    name += strlen("llvm.");
    for (int k = 0; copies[k]; k++)
        if (!strncmp(name, copies[k], strlen(copies[k])))
            return INTRINSIC_COPY;
    if (!strncmp(name, "memset.p", 8))
        return INTRINSIC_SET;
    return is_in(name, harmless) ? INTRINSIC_HARMLESS : INTRINSIC_UNKNOWN;
}

/* Whether the instruction at the beginning of the text, of `length` bytes, is on the list.
 * Instructions that begin with v_ compute with registers, those with ds_ access shared memory. */
static bool is_harmless_instruction(const char *text, size_t length)
{
    static const char *const scalar[] = {"s_nop",     "s_waitcnt", "s_barrier", "s_sleep",
                                         "s_setprio", "s_mov_b32", "s_mov_b64", "s_getreg_b32",
                                         "s_memtime", NULL};
    size_t n = strcspn(text, " \t\\");
    n = n < length ? n : length;
    for (int k = 0; scalar[k]; k++)
        if (n == strlen(scalar[k]) && !strncmp(text, scalar[k], n))
            return true;
    return !length || !strncmp(text, "v_", 2) || !strncmp(text, "ds_", 3);
}

/* Ends of lines and tabs are written as \0A and \09; comments begin with a semicolon. */
bool intrinsic_is_harmless_assembler(const char *text)
{
    while (*text) {
        const char *end = strstr(text, "\\0A");
        size_t length = end ? (size_t)(end - text) : strlen(text), begin = 0;
        while (begin < length && (text[begin] == ' ' || !strncmp(text + begin, "\\09", 3)))
            begin += text[begin] == ' ' ? 1 : 3;
        size_t code = strcspn(text, ";");
        code = code < length ? code : length;
        if (code > begin && !is_harmless_instruction(text + begin, code - begin))
            return false;
        text += length + (end ? 3 : 0);
    }
    return true;
}
