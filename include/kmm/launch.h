/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one header that source rewritten by kmmcc sees, and the one way work enters libkmm.
 *
 * A launch is described call by call on a builder, then handed over together with its arguments:
 *
 *     kmm_launch_t *kmm__launch = kmm_launch_begin("vector_add", "vector_add.cu", 42);
 *     kmm_launch_axis(kmm__launch, "i", KMM_GLOBAL_X, 0, n);
 *     kmm_launch_chunk(kmm__launch, KMM_GLOBAL_X, n / 10);
 *     kmm_launch_access(kmm__launch, KMM_READ, "A[i]", A, sizeof(*(A)));
 *     kmm_launch_index(kmm__launch, 0, 1);
 *     kmm_launch_coef(kmm__launch, 0, 1, 0);
 *     ...
 *     kmm_launch_arm(kmm__launch);              the next kernel launch of this thread consumes it
 *     kernel<<<grid, block>>>(...);
 *
 * A launch that comes again with the same values need not be described again (kmm_launch_again).
 * The calls copy what they are given. A mistake is remembered in the builder and reported when the
 * launch is submitted, so that rewritten source needs no error handling of its own.
 */
#ifndef KMM_LAUNCH_H
#define KMM_LAUNCH_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"
#ifdef _KMM /* compiled by kmmcc */
#include "linked.h"
#endif
#include "names_begin.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. It is raised when a call is added or changes its meaning, so that
 * source rewritten for this header no longer fits an older libkmm. Source that was compiled with
 * another version is refused: kmm_launch_begin and kmm_launch_kernel hand the version to libkmm.
 * The structs of this header change only with the version, too. */
#define KMM_LAUNCH_VERSION 2

/* Limits of one launch. KMM_MAX_SPLIT is the number of dimensions that can be split. KMM_MAX_DIMS
 * are the dimensions of an array or an access, and KMM_MAX_JOINED those that remain of an access
 * where each dimension that is taken whole is joined with the one outside it. KMM_MAX_ALIGN is the
 * alignment in bytes of the arguments that a chunk of a plain function gets. */
enum {
    KMM_MAX_AXES = 6,
    KMM_MAX_SPLIT = 3,
    KMM_MAX_DIMS = 6,
    KMM_MAX_JOINED = 4,
    KMM_MAX_ALIGN = 64
};

typedef struct kmm_runtime kmm_runtime_t;
typedef struct kmm_launch kmm_launch_t;

/* The index that an axis stands for. KMM_RANGE_k is the k-th dimension of a plain function's own
 * range. */
typedef enum kmm_source {
    KMM_GLOBAL_X,
    KMM_GLOBAL_Y,
    KMM_GLOBAL_Z, /* blockIdx.d * blockDim.d + threadIdx.d */
    KMM_BLOCK_X,
    KMM_BLOCK_Y,
    KMM_BLOCK_Z, /* blockIdx.d */
    KMM_RANGE_0,
    KMM_RANGE_1,
    KMM_RANGE_2
} kmm_source_t;

typedef enum kmm_mode { KMM_READ = 1, KMM_WRITE = 2, KMM_UPDATE = 3, KMM_REDUCE = 4 } kmm_mode_t;

typedef enum kmm_op {
    KMM_OP_ADD,
    KMM_OP_MUL,
    KMM_OP_MIN,
    KMM_OP_MAX,
    KMM_OP_BAND,
    KMM_OP_BOR,
    KMM_OP_BXOR,
    KMM_OP_LAND,
    KMM_OP_LOR,
    KMM_OP_ARGMIN,
    KMM_OP_ARGMAX /* argmin, argmax: of structs of a value and an index; equal values: the smaller
                     index, but the target stays if it has that value */
} kmm_op_t;

/* size_t, by a name that the program does not give to something else. */
typedef size_t kmm_size_t;

typedef enum kmm_type {
    KMM_INT8,
    KMM_INT16,
    KMM_INT32,
    KMM_INT64,
    KMM_UINT8,
    KMM_UINT16,
    KMM_UINT32,
    KMM_UINT64,
    KMM_FLOAT,
    KMM_DOUBLE,
    KMM_HALF,
    KMM_BFLOAT16, /* 16 bits */
    KMM_COMPLEX_FLOAT,
    KMM_COMPLEX_DOUBLE /* real part, imaginary part */
} kmm_type_t;

/* The length of an axis that is the whole grid, or of a section that ends where the array ends. */
#define KMM_WHOLE INT64_MIN

/* ---- Describing a launch ---- */

/* Starts the description of a launch of `kernel` at file:line on the runtime that is current for
 * this thread (the process's default runtime unless kmm_use chose another). Never NULL.
 * `kernel` and `file` must be string literals or otherwise live as long as the process. If the
 * caller was compiled with another version of this header than libkmm, that is reported as the
 * errors of directives are (below), before any other call that libkmm may not have. */
#define kmm_launch_begin(kernel, file, line)                                                       \
    kmm_launch_begin_version(KMM_LAUNCH_VERSION, kernel, file, line)
kmm_launch_t *kmm_launch_begin_version(uint32_t version, const char *kernel, const char *file,
                                       int line);

/* The name in traces and messages; default: the kernel's name. Copied. */
void kmm_launch_label(kmm_launch_t *l, const char *label);

/* Adds an axis. `lower` and `length` are the range of indices at which the kernel works, as its own
 * bounds check says, in elements (blocks for KMM_BLOCK_d). KMM_WHOLE as length means the whole
 * grid. Axes are numbered from 0 in the order in which they are added. `name` must live as long as
 * the process. */
void kmm_launch_axis(kmm_launch_t *l, const char *name, kmm_source_t source, int64_t lower,
                     int64_t length);

/* Says that each thread works at its own index only. Then the ranges of axes end where the grid
 * ends, and a negative length is an empty range. Without this call, a kernel is taken to reach a
 * range that is longer than the grid by a loop with the grid's stride. */
void kmm_launch_bounded(kmm_launch_t *l);

/* Says that the kernel uses nothing but its arguments, constants, shared memory, and the arrays to
 * which its pointer arguments lead, and stores no addresses there. So another process can run its
 * chunks. */
void kmm_launch_confined(kmm_launch_t *l);

/* Says that kmmcc has inferred all of the description from the kernel's code. Where the launch
 * would be refused, it runs as one that has no description. */
void kmm_launch_inferred(kmm_launch_t *l);
/* Says that kmmcc has inferred the accesses that follow. Where one of them does not hold, the
 * launch runs as one that has no description. That is so, for example, where the memory of the
 * access is in no array, and the kernel may never touch it. */
void kmm_launch_inferred_accesses(kmm_launch_t *l);
/* Under -fkmm-check: what the kernel does with memory, as kmmcc has read it from the kernel's code.
 * A chunk of which that proves that it stays within its clauses runs without a check of each
 * access. `text` has integers and letters with a space between them:
 *
 *     NODES LOOPS ACCESSES, followed by
 *     for each node LETTER BITS A B C VALUE (a letter of "npgksd+-muq%rlha&|^=!<(L)?zxt"),
 *     for each loop PARENT TEST TESTS_AT_END HAS_BREAKS, and
 *     for each access KIND PARAM MEMBER OFFSET BYTES GUARD LOOP AFTER_WRITE.
 *
 * kmmcc/ir/ir.h says what these are; the letters are its operations, in its order. `text` must live
 * as long as the process. */
void kmm_launch_graph(kmm_launch_t *l, const char *text);
/* Which values of the axes a condition is about: those in their ranges, or also all others that
 * threads of the grid have. */
typedef enum kmm_reach { KMM_IN_RANGE, KMM_IN_GRID } kmm_reach_t;
/* A condition: the integer `text` stays within `type`, which has at most 32 bits. Where one fails,
 * the launch runs as one that has no description. The integer is `constant` plus, for each axis,
 * the coefficient that kmm_launch_fits_coef adds to the condition that was started last. `text`
 * must live as long as the process. */
void kmm_launch_fits(kmm_launch_t *l, const char *text, kmm_type_t type, kmm_reach_t reach,
                     int64_t constant);
void kmm_launch_fits_coef(kmm_launch_t *l, unsigned axis, int64_t coef);

/* Says that the kernel does not use the memory that argument `number`, counted from 0, points to.
 * Then no access needs to name it. Of a plain function, `number` is that of the pointer-sized word
 * in the block given to kmm_launch_call. */
void kmm_launch_unused(kmm_launch_t *l, unsigned number);

/* A pointer in a struct that is an argument: the argument's number from 1, the byte in the struct,
 * and the member as the program writes it. */
typedef struct kmm_member {
    unsigned argument, at;
    const char *text;
} kmm_member_t;
/* Says for messages how the program writes the pointers in structs. The table lives as long as the
 * process. */
void kmm_launch_members(kmm_launch_t *l, const kmm_member_t *table, unsigned count);

/* Splits the dimension of `source` into chunks of `size` elements (blocks for KMM_BLOCK_d). Rounded
 * up to whole thread blocks; less than 1 means 1. A dimension without this call is not split,
 * unless no dimension has one: then the runtime chooses. */
void kmm_launch_chunk(kmm_launch_t *l, kmm_source_t source, int64_t size);

/* Makes the launch one chunk if `condition` is 0. */
void kmm_launch_if(kmm_launch_t *l, int condition);
/* Makes the launch one chunk on the device that the program has current, for a kernel that changes
 * variables of its device. */
void kmm_launch_home(kmm_launch_t *l);

/* Says where chunks may run. KMM_ON_ALL (the default): on all devices of the kernel's kind.
 * KMM_ON_CUDA, KMM_ON_HIP, KMM_ON_HOST: on all of them; a kernel of another kind is refused.
 * KMM_ON_DEVICE: on device `ordinal` of the kernel's kind; several such calls: on all that
 * they name. A kernel that was built for the CPU runs there
 * whichever kind is named. A plain function can run nowhere else. */
typedef enum kmm_where {
    KMM_ON_ALL,
    KMM_ON_CUDA,
    KMM_ON_HIP,
    KMM_ON_HOST,
    KMM_ON_DEVICE
} kmm_where_t;
void kmm_launch_device(kmm_launch_t *l, kmm_where_t where, int ordinal);

/* The assignment of chunks to devices. KMM_SCHEDULE_LOCALITY (the default): each to the device that
 * had most of its data last, as long as all devices get the same number. KMM_SCHEDULE_BLOCK: in
 * contiguous parts. KMM_SCHEDULE_CYCLIC: in turn. */
typedef enum kmm_schedule {
    KMM_SCHEDULE_LOCALITY,
    KMM_SCHEDULE_BLOCK,
    KMM_SCHEDULE_CYCLIC
} kmm_schedule_t;
void kmm_launch_schedule(kmm_launch_t *l, kmm_schedule_t schedule);

/* A variable of static storage that a plain function reads by its name: what the program calls it,
 * its memory, and what of that the function uses. */
typedef enum kmm_variable_kind {
    KMM_VARIABLE_POINTER = 1,        /* it is a pointer */
    KMM_VARIABLE_HOLDS_POINTERS = 2, /* there are pointers in it */
    KMM_VARIABLE_IN_PART = 4         /* perhaps not all of it */
} kmm_variable_kind_t;
typedef struct kmm_variable {
    const char *text;
    const volatile void *at;
    size_t bytes;  /* 0: not known */
    unsigned kind; /* of kmm_variable_kind_t, combined by `|` */
} kmm_variable_t;
/* Says which variables a plain function reads by their names. Before the launch, libkmm waits for
 * what computes them and what pointers in them lead to, and brings it to the host's memory. The
 * launch is refused if it writes to one of them. The table lives until kmm_launch_call returns. */
void kmm_launch_variables(kmm_launch_t *l, const kmm_variable_t *table, unsigned count);

/* Sets the priority. Of the chunks that are ready, those of higher priority start first. Default 0.
 */
void kmm_launch_priority(kmm_launch_t *l, int priority);

/* Lets the launch return before host memory that only this launch maps is written back. The next
 * kmm_wait writes it back. */
void kmm_launch_nowait(kmm_launch_t *l);
/* Lets the call of a plain function return only when its chunks have run, unless the launch has
 * nowait. For functions that use variables which the program may change. */
void kmm_launch_await(kmm_launch_t *l);
/* Says that a plain function cannot run twice with the same arrays, because it allocates or frees
 * memory to which pointers in them lead. So KMM_CHECK=result does not compare the launch. */
void kmm_launch_once(kmm_launch_t *l);

/* Starts an access to the memory at `base`, in elements of `element_bytes`. The calls for sections
 * that follow say which elements. Without a section it is the whole array that contains `base`.
 * `text` is the item as the user wrote it, for messages; it must live as long as the process. */
void kmm_launch_access(kmm_launch_t *l, kmm_mode_t mode, const char *text,
                       const volatile void *base, size_t element_bytes);

/* Starts a reduction, as of `reduce(op: ...)`. Chunks work on private copies (partials) that begin
 * as the identity of op. The partials are folded in one order, which depends on the launch alone,
 * and the result is accumulated into the array. A launch of many chunks has fewer partials than
 * chunks: chunks that share one take turns. A launch of one chunk works on the array itself if that
 * gives the same result. KMM_HALF and KMM_BFLOAT16 are folded as float and rounded once, to nearest
 * and ties to even. Complex numbers have KMM_OP_ADD and KMM_OP_MUL. && and || go by truth, and
 * leave an element as it is unless the launch changes it. With KMM_OP_ARGMIN and KMM_OP_ARGMAX
 * `type` is the value's type, and kmm_launch_pair follows. */
void kmm_launch_reduce(kmm_launch_t *l, kmm_op_t op, kmm_type_t type, const char *text,
                       const volatile void *base);

/* Describes the structs of the reduction that was started last: their size, the offset of the
 * value, and the type (of 32 or 64 bits) and offset of the index. A struct wins or loses as a
 * whole. */
void kmm_launch_pair(kmm_launch_t *l, size_t element_bytes, size_t value_offset,
                     kmm_type_t index_type, size_t index_offset);

/* Says of the reduction that was started last, by min or max of floating-point numbers: where the
 * target is a NaN and a chunk has a number, the code takes the number, as fmin and fmax do. Without
 * it a NaN stays. */
void kmm_launch_numbers(kmm_launch_t *l);

/* Says that an argument may hold `pointer`, from which the program computes the base of the access
 * that was started last. Both lie in one object. Every address between them is translated as the
 * base is, whether the memory is mapped or not. */
void kmm_launch_through(kmm_launch_t *l, const volatile void *pointer);

/* Says of the access that was started last: its elements hold pointers that the code may follow.
 * Where an array has another address on a device, the launch is refused if one leads into an array.
 */
void kmm_launch_pointers(kmm_launch_t *l);

/* Says of the access that was started last: its elements hold pointers that a plain function may
 * store. Those into memory of the launch become the program's addresses when the chunk is done. */
void kmm_launch_stored_pointers(kmm_launch_t *l);

/* Says of the access that was started last: the pointers of its elements may lie at any byte, as
 * those of packed structs do. */
void kmm_launch_packed_pointers(kmm_launch_t *l);

/* Adds one dimension of its `shape` to the access that was started last, outermost first, in
 * elements. The outermost may be KMM_WHOLE: as many as the array has. Of more than KMM_MAX_JOINED
 * dimensions, each whose section is `[:]`, or that has none, is joined with the one outside it,
 * innermost first; the launch is refused if more than KMM_MAX_JOINED remain. None is joined with an
 * outermost dimension of KMM_WHOLE, nor with one whose section has offsets. */
void kmm_launch_extent(kmm_launch_t *l, int64_t extent);

/* Adds a section to the access that was started last, outermost first. Its indices are [lower,
 * lower + length), both affine in the axes: this call gives the constant parts, and kmm_launch_coef
 * the coefficients of one axis. Length KMM_WHOLE with lower 0 is `[:]`. */
void kmm_launch_index(kmm_launch_t *l, int64_t lower, int64_t length);
void kmm_launch_coef(kmm_launch_t *l, unsigned axis, int64_t lower_coef, int64_t length_coef);

/* Says of the section that was started last: its indices number parts, as the rows of a matrix in
 * CSR form. Part k has the elements [offsets[k], offsets[k + 1]); it is empty where these decrease.
 * `offsets` has `count` integers of 32 or 64 bits, which stay until the launch has been handed
 * over: the host reads them then. If they lie in an array, or in memory that is mapped otherwise
 * than KMM_MAP_TO, this call waits for what writes them, and copies them. Count KMM_WHOLE means as
 * many as that array has, or else as many as the axes' ranges need, which must be given. Indices
 * below 0 and above count - 2 number no part. The region of a chunk is what lies from the first to
 * the last element of its parts. */
void kmm_launch_offsets(kmm_launch_t *l, const void *offsets, kmm_type_t type, int64_t count);

/* Checks that a plain function's argument `name` has the value `expected` (the range's length,
 * begin or end). Otherwise the launch fails with KMM_E_RANGE and says so. */
void kmm_launch_expect(kmm_launch_t *l, const char *name, int64_t actual, int64_t expected);

/* ---- Handing it over ---- */

/* The part [begin, end) of a plain function's range that one chunk has, by dimension KMM_RANGE_k.
 * The whole range begins at `lower`. */
typedef struct kmm_chunk {
    int64_t begin[KMM_MAX_SPLIT], end[KMM_MAX_SPLIT], lower[KMM_MAX_SPLIT];
    int64_t launch; /* larger for a launch that was submitted later */
    int64_t thread; /* kmm_thread_number() of the thread that launched */
} kmm_chunk_t;

/* Returns the calling thread's number, greater than 0, which no other thread of the process has or
 * will have. */
int64_t kmm_thread_number(void);

/* Returns how many indices of the dimension the chunk has. */
static inline int64_t kmm_chunk_length(const kmm_chunk_t *chunk, unsigned dimension)
{
    return chunk->end[dimension] - chunk->begin[dimension];
}
/* Returns how far the chunk begins behind the range. */
static inline int64_t kmm_chunk_distance(const kmm_chunk_t *chunk, unsigned dimension)
{
    return chunk->begin[dimension] - chunk->lower[dimension];
}
static inline int64_t kmm_chunk_begin(const kmm_chunk_t *chunk, unsigned dimension)
{
    return chunk->begin[dimension];
}
static inline int64_t kmm_chunk_end(const kmm_chunk_t *chunk, unsigned dimension)
{
    return chunk->end[dimension];
}

/* Runs one chunk of a plain function. `args` is a copy of the block given to kmm_launch_call in
 * which every pointer into an array is replaced by one that is valid where the chunk runs. */
typedef void kmm_function_t(const kmm_chunk_t *chunk, void *args);

/* Submits the launch as calls of `function` on the host. `args` is copied. Consumes the builder.
 * Every naturally aligned pointer-sized word of `args` that points into an array is translated.
 * Returns 0 or a negative error. */
int kmm_launch_call(kmm_launch_t *l, kmm_function_t *function, const void *args, size_t args_bytes);
/* Called in a chunk of a function that throws a C++ exception. Other than 0: kmm_launch_thrown must
 * follow. */
int kmm_launch_threw(const kmm_chunk_t *chunk);
/* Tells the exception's type and value, as texts. `value` NULL: libkmm reads it from `object`, the
 * exception in the layout of libstdc++; NULL: it is not known how to read it. Other than 0: the
 * program does not get the exception, because KMM_CHECK=result has made the call. */
int kmm_launch_thrown(const kmm_chunk_t *chunk, const char *type, const char *value,
                      const void *object);
/* True if this thread's latest launch has mapped host memory, and returned when its results were
 * back. */
int kmm_launch_waited(void);

/* Makes the next kernel launch of this thread (kmm_launch_kernel below, which <<<>>> reaches)
 * consume the builder. If another builder is armed still, that one is dropped and this launch
 * fails, since the kernel launch that was described before did not happen. */
void kmm_launch_arm(kmm_launch_t *l);
/* Drops the builder if it is still armed: its launch does not happen. */
void kmm_launch_disarm(const kmm_launch_t *l);

/* ---- Launches that come again. Source describes a launch of a kernel only where this is needed:
 *
 *     static kmm_site_t kmm__site;
 *     const kmm_value_t kmm__values[] = {kmm_number(n), kmm_number(n / 10), kmm_address(A), ...};
 *     kmm_launch_t *kmm__launch = kmm_launch_again(&kmm__site, kmm__values, 3);
 *     if (!kmm__launch) {
 *         kmm__launch = kmm_launch_begin("scale", "scale.cu", 42);
 *         ...
 *         kmm_launch_keep(kmm__launch, &kmm__site, kmm__values, 3);
 *         kmm_launch_arm(kmm__launch);
 *     }
 * ---- */

/* What libkmm knows of one place in the source; zero at first. */
typedef struct kmm_site {
    void *known;
} kmm_site_t;

/* A number or an address that a description is made of. */
typedef uint64_t kmm_value_t;
enum { KMM_MAX_VALUES = 32 };
static inline kmm_value_t kmm_number(int64_t number) { return (kmm_value_t)number; }
static inline kmm_value_t kmm_address(const volatile void *address) { return (kmm_value_t)address; }

/* Arms the description that libkmm has kept of this place and these values, and returns it. NULL:
 * the launch has to be described and armed. */
kmm_launch_t *kmm_launch_again(kmm_site_t *site, const kmm_value_t *values, unsigned count);
/* Says that the description says the same whenever it is made at this place of the same values. So
 * libkmm may keep it. */
void kmm_launch_keep(kmm_launch_t *l, kmm_site_t *site, const kmm_value_t *values, unsigned count);

/* A sub-box of a grid, for a cloned kernel that was compiled with -fkmm-check. */
typedef struct kmm_checked_blocks {
    uint32_t offset_x, offset_y, offset_z; /* as kmm_blocks has them */
    uint32_t grid_x, grid_y, grid_z;
    uint64_t table; /* address of the chunk's kmm_check_table_t; 0: nothing is checked */
} kmm_checked_blocks_t;

/* A sub-box of a grid. A cloned kernel takes it as its first parameter. Plain old data: the same
 * layout on host and device. */
#ifdef KMM_CHECKED
typedef kmm_checked_blocks_t kmm_blocks_t;
#else
typedef struct kmm_blocks {
    uint32_t offset_x, offset_y, offset_z; /* added to the hardware's blockIdx */
    uint32_t grid_x, grid_y, grid_z;       /* gridDim of the whole launch */
} kmm_blocks_t;
#endif

/* What the clone of a kernel that reduces takes as its first parameter instead. The clone adds to
 * some of its pointers, the moved ones: pointer k of them advances by stride[k] bytes for each
 * chunk before the one that the thread's block belongs to. So one launch runs all chunks, each on
 * its partial. The strides follow this struct, one for each moved pointer. With strides of 0 the
 * clone runs one chunk. Chunks are numbered as blocks are, x fastest. */
typedef struct kmm_partials_head {
    uint32_t offset[3], grid[3]; /* a kmm_blocks_t */
    uint32_t chunks_x, chunks_y;
    /* Block b of a dimension is in chunk (2 * b * inverse >> 32) >> shift of it. For chunks of c
     * blocks, shift is log2(c) rounded up, and inverse is 2^(31 + shift) / c rounded up, which is
     * exact for b below 2^31. 0: the dimension is not divided. */
    uint32_t inverse[3], shift[3];
} kmm_partials_head_t;

typedef enum kmm_kind { KMM_KIND_HOST = 1, KMM_KIND_CUDA = 2, KMM_KIND_HIP = 3 } kmm_kind_t;

/* Blocks of one kernel launch that one host thread runs. The chunk is a box of `count` blocks at
 * `offset`. Its blocks are numbered from 0, x fastest; the thread runs the numbers [first, last).
 */
typedef struct kmm_host_blocks {
    uint32_t grid[3], block[3]; /* gridDim, blockDim */
    uint32_t offset[3], count[3];
    uint64_t first, last;
    size_t shared_bytes; /* dynamic shared memory of a block */
} kmm_host_blocks_t;

/* A kernel. It lives as long as the process. */
typedef struct kmm_kernel {
    uint32_t version; /* KMM_LAUNCH_VERSION */
    kmm_kind_t kind;
    const char *name;
    /* KMM_KIND_HOST: runs some blocks; args[k] points to the value of parameter k. */
    void (*run)(const kmm_host_blocks_t *blocks, void **args);
    /* KMM_KIND_CUDA: a CUkernel. KMM_KIND_HIP: the kernel's host function, as hipLaunchKernel takes
     * it. */
    void *handle;
    uint32_t param_count;
    const uint32_t *param_bytes; /* size of each parameter */
    /* A clone: parameter 0 is a kmm_blocks_t or kmm_checked_blocks_t, told by its size, that the
     * runtime fills in for each chunk. `whole` is the kernel it was cloned from, which takes the
     * other parameters. KMM_KIND_HOST: `whole` is the same kernel without the calls of -fkmm-check;
     * NULL: there is none.
     * Bit 0 says that it is a clone. Bit k says that its parameter k is a moved pointer; then
     * parameter 0 is a kmm_partials_head_t and its strides. */
    uint32_t is_clone;
    const struct kmm_kernel *whole;
} kmm_kernel_t;

typedef struct kmm_geometry {
    uint32_t grid[3], block[3];
    size_t shared_bytes;
    void *stream; /* the program's stream; NULL is the default stream */
} kmm_geometry_t;

/* Launches a kernel: <<<>>> becomes this call in a managed program. With an armed builder the
 * launch is divided as the builder says. Otherwise it runs as one chunk that updates the whole of
 * each array that its arguments point into. args[k] points to the value of parameter k; the values
 * are copied. Returns 0 or a negative error; later errors are reported by kmm_wait. */
int kmm_launch_kernel(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry, void **args);

/* Called before a library with GPU kernels is unloaded: waits for all work, and forgets the kernels
 * with these handles. */
void kmm_kernels_end(const void *const *handles, uint32_t count);

/* ---- Tasks: statements of the program that run once, on the calling thread ---- */

typedef struct kmm_task kmm_task_t;

/* Begins a task. Its accesses are those of the builder, which is consumed. Returns when its arrays
 * are resident on its device, and its stream is ordered after the work that they depend on. The
 * device is that of KMM_ON_DEVICE, else the driver's current one; it is current until kmm_task_end.
 * `stream` is the program's stream that the task belongs to. If task_stream is not NULL,
 * *task_stream receives the stream to enqueue work on (NULL on the CPU). If task_stream is NULL,
 * work may be enqueued on any stream: the arrays are there when this returns, and kmm_task_end
 * waits for the device. An error is reported as the errors of directives are (below). Then the
 * result is NULL, and the statements must not run. Inside a task the program may not wait for work
 * of the runtime, and tasks do not nest. */
kmm_task_t *kmm_task_begin(kmm_launch_t *l, void *stream, void **task_stream);

/* Returns the stream on which the program, inside a task, makes a call of the driver that names
 * `stream` (a driver's handle). Instead of the default stream it is the task's stream, if the task
 * has one. Another stream is ordered after what the task waits for, and its work before what waits
 * for the task. Outside of tasks, and on the CPU, it is `stream`. */
void *kmm_task_stream(void *stream);

/* Returns the address on the task's device for `base`, which points into an array. An access of the
 * task must name the array. */
void *kmm_task_pointer(kmm_task_t *t, const void *base);

/* Ends the task. Its work is what was enqueued on its stream so far. This call waits for that work
 * only if host memory was mapped for the task, or if the task has no stream. NULL is allowed. Call
 * it on the thread that began the task. */
void kmm_task_end(kmm_task_t *t);

/* Returns nonzero if this thread is inside a task. */
int kmm_task_active(void);

/* ---- Directives that are no launch. If one fails, it prints the error and ends the program with
 * abort(), because the directive has nowhere to return it to. With the environment variable
 * KMM_ON_ERROR=continue it prints the error and goes on. ---- */

typedef enum kmm_map { KMM_MAP_TO, KMM_MAP_FROM, KMM_MAP_TOFROM, KMM_MAP_ALLOC } kmm_map_t;

void kmm_data_enter(kmm_map_t map, const char *text, void *base, size_t bytes, const char *file,
                    int line);
void kmm_data_exit(void *base, size_t bytes, const char *file, int line);
/* The same, at the begin and the end of the block of a `data` directive. The map ends, too, if the
 * thread calls exit or ends inside of the block. Leaving the block by longjmp is an error that the
 * next call of libkmm reports, unless the calls below have seen the setjmp. */
void kmm_data_open(kmm_map_t map, const char *text, void *base, size_t bytes, const char *file,
                   int line);
void kmm_data_close(void *base, size_t bytes, const char *file, int line);
/* For kmm/jump.h. kmm_jump_mark: setjmp is about to fill the buffer. kmm_jump_arrived: setjmp has
 * returned `value`; returns it. If it is not 0, a jump has arrived: the blocks that this thread has
 * entered since kmm_jump_mark end. */
void kmm_jump_mark(const void *buffer);
int kmm_jump_arrived(int value, const void *buffer);
/* KMM_TO: the host has written the bytes. KMM_FROM: the host wants to read them. */
typedef enum kmm_direction { KMM_TO, KMM_FROM } kmm_direction_t;
/* Makes the host's values of mapped memory the newest, or brings the newest values to the host.
 * bytes SIZE_MAX: the whole map that contains base. */
void kmm_data_update(kmm_direction_t direction, const char *text, const void *base, size_t bytes,
                     const char *file, int line);
void kmm_directive_wait(const char *file, int line);
void kmm_directive_wait_on(const void *base, const char *file,
                           int line); /* waits for the work on the array that contains base */

/* For what runs at exit: waits for work, unless the caller is part of it or another thread is
 * inside a task. Errors of the work stay for the end of the process. */
void kmm_wait_at_exit(void);

/* Reports the result of kmm_launch_call for generated code in the same manner. */
void kmm_directive_check(int result, const char *file, int line);

#ifdef __cplusplus
}

/* What stands between `<<<` and `>>>` of a launch. T: dim3. Stream: of the runtime. */
template <class T, class Stream> struct kmm_configuration {
    T grid, block;
    size_t bytes; /* of shared memory */
    Stream stream;
    kmm_configuration(T of_grid, T of_block, size_t of_shared = 0, Stream of_stream = 0)
        : grid(of_grid), block(of_block), bytes(of_shared), stream(of_stream)
    {
    }
};
#endif
#include "names_end.h"

#ifdef __cplusplus
#include "except.h"
#endif
#endif
