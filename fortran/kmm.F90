! SPDX-License-Identifier: Apache-2.0
! libkmm from Fortran 2018: arrays as Fortran pointers, and launches of functions over them in
! chunks. docs/languages.md is the guide, examples/fortran a program. This file includes the others
! of its folder, so that it is the only one to compile.
!
! Every call that can fail has the optional arguments stat, which is 0 or a negative error of
! kmm/error.h, and errmsg, its text. Without stat an error ends the program.
#include "kmm_c.f90"
#include "kmm_indices.f90"

module kmm
    use, intrinsic :: iso_fortran_env, only: error_unit
    use kmm_c
    use kmm_indices
    implicit none
    private
    public :: kmm_chunk, kmm_index, kmm_all, kmm_at, kmm_part
    public :: operator(+), operator(-), operator(*), operator(.to.)
    public :: KMM_E_INVALID, KMM_E_MEMORY, KMM_E_ADDRESS, KMM_E_KERNEL, KMM_E_DEVICE, &
        KMM_E_NO_DEVICE, KMM_E_POISONED, KMM_E_OVERLAP, KMM_E_RANGE, KMM_E_UNSUPPORTED, KMM_E_IO, &
        KMM_E_STATE, KMM_E_DISK_FULL, KMM_E_CORRUPT, KMM_E_ACCESS
    public :: KMM_OP_ADD, KMM_OP_MUL, KMM_OP_MIN, KMM_OP_MAX, KMM_OP_BAND, KMM_OP_BOR, &
        KMM_OP_BXOR, KMM_OP_LAND, KMM_OP_LOR

    integer, parameter :: MOST_DIMS = 3, MOST_ARGUMENTS = 16

    ! ---- Types of this module ----

    ! A runtime; create or use_default makes it.
    type, public :: kmm_runtime
        type(c_ptr) :: c = c_null_ptr ! the kmm_runtime_t
    contains
        procedure :: create => runtime_create
        procedure :: use_default => runtime_use_default
        procedure :: wait => runtime_wait
        procedure :: destroy => runtime_destroy
        procedure, private :: allocate_1_r4, allocate_1_r8, allocate_1_i4, allocate_1_i8, &
            allocate_2_r4, allocate_2_r8, allocate_2_i4, allocate_2_i8, &
            allocate_3_r4, allocate_3_r8, allocate_3_i4, allocate_3_i8
        generic :: allocate => allocate_1_r4, allocate_1_r8, allocate_1_i4, allocate_1_i8, &
            allocate_2_r4, allocate_2_r8, allocate_2_i4, allocate_2_i8, &
            allocate_3_r4, allocate_3_r8, allocate_3_i4, allocate_3_i8
        procedure, private :: free_r4, free_r8, free_i4, free_i8
        generic :: free => free_r4, free_r8, free_i4, free_i8
        procedure, private :: copy_in_r4, copy_in_r8, copy_in_i4, copy_in_i8
        generic :: copy_in => copy_in_r4, copy_in_r8, copy_in_i4, copy_in_i8
        procedure, private :: copy_out_r4, copy_out_r8, copy_out_i4, copy_out_i8
        generic :: copy_out => copy_out_r4, copy_out_r8, copy_out_i4, copy_out_i8
    end type

    ! An array as an argument of a launch or a copy.
    type :: memory
        type(c_ptr) :: base = c_null_ptr
        integer(c_int) :: kind = 0, rank = 0
        integer(c_int64_t) :: extent(MOST_DIMS) = 0
        logical :: is_contiguous = .true.
    end type

    ! An argument as a function gets it: a value, or an array of rank 1 to 3.
    type, bind(c) :: passed
        type(c_ptr) :: base
        integer(c_int64_t) :: extent(MOST_DIMS)
        integer(c_int8_t) :: value(8)
        integer(c_int) :: kind, rank
    end type
    ! What a Fortran function gets beside its chunk; kmm_get_array and
    ! kmm_get_value read it.
    type, bind(c), public :: kmm_arguments
        private
        integer(c_int64_t) :: count
        type(passed) :: argument(MOST_ARGUMENTS)
    end type

    type :: argument
        type(memory) :: of
        integer(c_int) :: mode = 0, op = 0
        integer :: sections = 0
        type(kmm_index) :: section(MOST_DIMS)
        integer(c_int8_t) :: value(8) = 0
    end type

    ! A launch that is being described. Its arguments are what read, write, update, reduce and value
    ! name, in that order. It can run once.
    type, public :: kmm_launch
        private
        integer :: axes = 0, sizes = 0, count = 0
        integer(c_int64_t) :: first(MOST_AXES) = 0, last(MOST_AXES) = 0, size(MOST_AXES) = 0
        type(argument) :: argument(MOST_ARGUMENTS)
        character(:), allocatable :: mistake ! what run reports
    contains
        procedure, private :: axis_i4, axis_i8
        generic :: axis => axis_i4, axis_i8
        procedure, private :: chunk_i4, chunk_i8
        generic :: chunk => chunk_i4, chunk_i8
        procedure, private :: read_r4, read_r8, read_i4, read_i8
        generic :: read => read_r4, read_r8, read_i4, read_i8
        procedure, private :: write_r4, write_r8, write_i4, write_i8
        generic :: write => write_r4, write_r8, write_i4, write_i8
        procedure, private :: update_r4, update_r8, update_i4, update_i8
        generic :: update => update_r4, update_r8, update_i4, update_i8
        procedure, private :: reduce_r4, reduce_r8, reduce_i4, reduce_i8
        generic :: reduce => reduce_r4, reduce_r8, reduce_i4, reduce_i8
        procedure, private :: value_r4, value_r8, value_i4, value_i8
        generic :: value => value_r4, value_r8, value_i4, value_i8
        procedure :: run => launch_run
        procedure :: run_block => launch_run_block
        procedure :: run_kernel => launch_run_kernel
    end type

    ! Gives a pointer to the array that is argument `number` of a launch, counted from 1. The
    ! pointer has the type and rank of the array, and indices from 1.
    interface kmm_get_array
        procedure get_array_1_r4, get_array_1_r8, get_array_1_i4, get_array_1_i8, &
            get_array_2_r4, get_array_2_r8, get_array_2_i4, get_array_2_i8, &
            get_array_3_r4, get_array_3_r8, get_array_3_i4, get_array_3_i8
    end interface
    ! Gives the value that is argument `number`.
    interface kmm_get_value
        procedure get_value_r4, get_value_r8, get_value_i4, get_value_i8
    end interface
    public :: kmm_get_array, kmm_get_value

    ! Texts that libkmm keeps.
    character(c_char), save, target :: name(8) = ['f', 'o', 'r', 't', 'r', 'a', 'n', c_null_char]
    character(c_char), save, target :: axis_name(2, MOST_AXES) = &
        reshape(['i', c_null_char, 'j', c_null_char, 'k', c_null_char], [2, MOST_AXES])
    character(c_char), save, target :: number_text(3, MOST_ARGUMENTS) = reshape([ &
        '1', c_null_char, c_null_char, '2', c_null_char, c_null_char, &
        '3', c_null_char, c_null_char, '4', c_null_char, c_null_char, &
        '5', c_null_char, c_null_char, '6', c_null_char, c_null_char, &
        '7', c_null_char, c_null_char, '8', c_null_char, c_null_char, &
        '9', c_null_char, c_null_char, '1', '0', c_null_char, &
        '1', '1', c_null_char, '1', '2', c_null_char, &
        '1', '3', c_null_char, '1', '4', c_null_char, &
        '1', '5', c_null_char, '1', '6', c_null_char], &
        [3, MOST_ARGUMENTS])

contains

    ! ---- Errors ----

    ! Hands a status to the caller. Without stat an error ends the program.
    recursive subroutine finish(rt, status, stat, errmsg)
        type(c_ptr), intent(in) :: rt
        integer, intent(in) :: status
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call give(status, text_of(rt, status), stat, errmsg)
    end subroutine

    recursive subroutine refuse(text, stat, errmsg)
        character(*), intent(in) :: text
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call give(KMM_E_INVALID, text, stat, errmsg)
    end subroutine

    recursive subroutine give(status, text, stat, errmsg)
        integer, intent(in) :: status
        character(*), intent(in) :: text
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        if (present(stat)) stat = status
        if (status >= 0) return
        if (present(errmsg)) errmsg = text
        if (present(stat)) return
        write (error_unit, '(a)') 'kmm: error: '//text
        error stop 1
    end subroutine

    recursive function text_of(rt, status) result(text)
        type(c_ptr), intent(in) :: rt
        integer, intent(in) :: status
        character(:), allocatable :: text
        character(c_char), pointer :: c(:)
        type(c_ptr) :: from
        integer :: k
        text = ''
        if (status >= 0) return
        from = kmm_error_text(rt)
        call c_f_pointer(from, c, [strlen(from)])
        do k = 1, size(c)
            text = text//c(k)
        end do
    end function

    ! ---- Runtimes ----

    ! Creates a runtime. Arguments that are not given have the environment's value, or else the
    ! default, as kmm_config_t in kmm.h says.
    recursive subroutine runtime_create(rt, devices, device_mem, frame_bytes, host_mem, stat, &
                                        errmsg)
        class(kmm_runtime), intent(out) :: rt
        character(*), intent(in), optional :: devices
        integer(c_int64_t), intent(in), optional :: device_mem, frame_bytes, host_mem
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(kmm_config_t) :: config
        character(:, c_char), allocatable, target :: list
        integer :: status
        if (present(devices)) then
            list = trim(devices)//c_null_char
            config%devices = c_loc(list)
        end if
        if (present(device_mem)) config%device_mem = device_mem
        if (present(frame_bytes)) config%frame_bytes = frame_bytes
        if (present(host_mem)) config%host_mem = host_mem
        status = kmm_create_version(KMM_VERSION_NUMBER, c_sizeof(config), rt%c, config)
        if (status < 0) rt%c = c_null_ptr
        call finish(c_null_ptr, status, stat, errmsg)
    end subroutine

    ! Makes it the process's runtime, which pragmas use. It is not to be destroyed.
    recursive subroutine runtime_use_default(rt, stat, errmsg)
        class(kmm_runtime), intent(out) :: rt
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        rt%c = kmm_default()
        call finish(c_null_ptr, merge(0, KMM_E_DEVICE, c_associated(rt%c)), stat, errmsg)
    end subroutine

    ! Waits for all work, and reports its first error.
    recursive subroutine runtime_wait(rt, stat, errmsg)
        class(kmm_runtime), intent(in) :: rt
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        call finish(rt%c, kmm_wait(rt%c), stat, errmsg)
    end subroutine

    ! Waits for all work, and frees the runtime with all its arrays.
    recursive subroutine runtime_destroy(rt, stat, errmsg)
        class(kmm_runtime), intent(inout) :: rt
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer :: status
        status = kmm_destroy(rt%c)
        rt%c = c_null_ptr
        call finish(rt%c, status, stat, errmsg)
    end subroutine

    ! ---- Arrays ----

    recursive pure integer(c_size_t) function bytes_of(kind)
        integer(c_int), intent(in) :: kind
        bytes_of = merge(4_c_size_t, 8_c_size_t, kind == KMM_FLOAT .or. kind == KMM_INT32)
    end function

    ! Extents are those of Fortran; those of libkmm have the outermost dimension first.
    recursive integer function array_create(rt, extents, bytes, base) result(status)
        class(kmm_runtime), intent(in) :: rt
        integer(c_int64_t), intent(in) :: extents(:)
        integer(c_size_t), intent(in) :: bytes
        type(c_ptr), intent(out) :: base
        type(kmm_shape_t) :: shape
        shape%dims = size(extents)
        shape%extent = 0
        shape%extent(:size(extents)) = extents(size(extents):1:-1)
        shape%element_bytes = bytes
        status = kmm_array_create(rt%c, shape, base)
    end function

    recursive subroutine copy_memory(rt, a, host, is_in, stat, errmsg)
        class(kmm_runtime), intent(in) :: rt
        type(memory), intent(in) :: a, host
        logical, intent(in) :: is_in
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer(c_size_t) :: bytes
        integer :: status
        bytes = product(a%extent(:a%rank))*bytes_of(a%kind)
        if (.not. (a%is_contiguous .and. host%is_contiguous)) then
            call refuse('a copy of a section that is not contiguous', stat, errmsg)
        else if (bytes /= product(host%extent(:host%rank))*bytes_of(host%kind)) then
            call refuse('a copy between arrays of different sizes', stat, errmsg)
        else
            status = 0
            if (bytes > 0 .and. is_in) status = kmm_copy_in(rt%c, a%base, host%base, bytes)
            if (bytes > 0 .and. .not. is_in) status = kmm_copy_out(rt%c, host%base, a%base, bytes)
            call finish(rt%c, status, stat, errmsg)
        end if
    end subroutine

    ! ---- Describing a launch ----

    recursive subroutine mistake(l, text)
        class(kmm_launch), intent(inout) :: l
        character(*), intent(in) :: text
        if (.not. allocated(l%mistake)) l%mistake = text
    end subroutine

    ! Adds an axis with the indices first to last, and returns it as an index. The first axis is
    ! that of innermost loops.
    recursive function axis_i8(l, first, last) result(x)
        class(kmm_launch), intent(inout) :: l
        integer(c_int64_t), intent(in) :: first, last
        type(kmm_index) :: x
        if (l%axes == MOST_AXES) then
            call mistake(l, 'a launch has at most 3 axes')
            return
        end if
        l%axes = l%axes + 1
        l%first(l%axes) = first
        l%last(l%axes) = last
        x%of_lower(l%axes) = 1
        x%of_upper(l%axes) = 1
    end function
    recursive function axis_i4(l, first, last) result(x)
        class(kmm_launch), intent(inout) :: l
        integer(c_int32_t), intent(in) :: first, last
        type(kmm_index) :: x
        x = axis_i8(l, int(first, c_int64_t), int(last, c_int64_t))
    end function

    ! Sets the chunks' sizes; axes behind the last one are not divided.
    recursive subroutine chunk_i8(l, s1, s2, s3)
        class(kmm_launch), intent(inout) :: l
        integer(c_int64_t), intent(in) :: s1
        integer(c_int64_t), intent(in), optional :: s2, s3
        l%sizes = 1
        l%size(1) = s1
        if (present(s2)) then
            l%sizes = 2
            l%size(2) = s2
        end if
        if (present(s3)) then
            l%sizes = 3
            l%size(3) = s3
        end if
    end subroutine
    recursive subroutine chunk_i4(l, s1, s2, s3)
        class(kmm_launch), intent(inout) :: l
        integer(c_int32_t), intent(in) :: s1
        integer(c_int32_t), intent(in), optional :: s2, s3
        call chunk_i8(l, int(s1, c_int64_t))
        if (present(s2)) call chunk_i8(l, int(s1, c_int64_t), int(s2, c_int64_t))
        if (present(s3)) &
            call chunk_i8(l, int(s1, c_int64_t), int(s2, c_int64_t), int(s3, c_int64_t))
    end subroutine

    recursive logical function has_room(l)
        class(kmm_launch), intent(inout) :: l
        has_room = l%count < MOST_ARGUMENTS
        if (.not. has_room) call mistake(l, 'a launch has at most 16 arguments')
        if (has_room) l%count = l%count + 1
    end function

    recursive subroutine add_access(l, mode, m, s1, s2, s3)
        class(kmm_launch), intent(inout) :: l
        integer(c_int), intent(in) :: mode
        type(memory), intent(in) :: m
        type(kmm_index), intent(in), optional :: s1, s2, s3
        integer :: given
        if (.not. has_room(l)) return
        given = count([present(s1), present(s2), present(s3)])
        if (given /= 0 .and. given /= m%rank) &
            call mistake(l, 'a region needs an index for each dimension, or none')
        if (.not. m%is_contiguous) call mistake(l, 'a launch takes whole arrays')
        associate (a => l%argument(l%count))
            a%of = m
            a%mode = mode
            a%sections = given
            if (present(s1)) a%section(1) = s1
            if (present(s2)) a%section(2) = s2
            if (present(s3)) a%section(3) = s3
            if (any(a%section(:given)%is_wrong)) call mistake(l, 'a part is a whole index: ' // &
                'kmm_part(offsets, i), or kmm_part(offsets, i .to. i + 1)')
        end associate
    end subroutine

    recursive subroutine add_value(l, kind, bytes)
        class(kmm_launch), intent(inout) :: l
        integer(c_int), intent(in) :: kind
        integer(c_int8_t), intent(in) :: bytes(:)
        if (.not. has_room(l)) return
        l%argument(l%count)%of%kind = kind
        l%argument(l%count)%value(:size(bytes)) = bytes
    end subroutine

    ! Hands one argument's region to libkmm: indices from 0, the outermost dimension first.
    recursive subroutine describe_access(l, c, a, number)
        class(kmm_launch), intent(in) :: l
        type(c_ptr), intent(in) :: c
        type(argument), intent(in), target :: a
        integer, intent(in) :: number
        integer :: d, k
        type(c_ptr) :: text
        text = c_loc(number_text(1, number))
        if (a%mode == KMM_REDUCE) then
            call kmm_launch_reduce(c, a%op, a%of%kind, text, a%of%base)
        else
            call kmm_launch_access(c, a%mode, text, a%of%base, bytes_of(a%of%kind))
        end if
        do d = a%of%rank, 1, -1
            call kmm_launch_extent(c, a%of%extent(d))
        end do
        do d = a%of%rank, 1, -1
            associate (s => a%section(d))
                if (a%sections == 0 .or. s%is_all) then
                    call kmm_launch_index(c, 0_c_int64_t, KMM_WHOLE)
                    cycle
                end if
                call kmm_launch_index(c, s%lower - 1, s%upper - s%lower + 1)
                do k = 1, l%axes
                    call kmm_launch_coef(c, k - 1, s%of_lower(k), s%of_upper(k) - s%of_lower(k))
                end do
                if (allocated(s%offsets)) call kmm_launch_offsets(c, c_loc(s%offsets), &
                    KMM_INT64, size(s%offsets, kind=c_int64_t))
            end associate
        end do
    end subroutine

    recursive function describe(l, rt, source, label) result(c)
        class(kmm_launch), intent(in), target :: l
        class(kmm_runtime), intent(in) :: rt
        integer(c_int), intent(in) :: source
        character(*), intent(in), optional :: label
        type(c_ptr) :: c
        integer :: k
        call kmm_use(rt%c)
        c = kmm_launch_begin_version(KMM_LAUNCH_VERSION, c_loc(name), c_loc(name), 0)
        if (present(label)) call kmm_launch_label(c, trim(label)//c_null_char)
        do k = 1, l%axes
            call kmm_launch_axis(c, c_loc(axis_name(1, k)), source + k - 1, l%first(k), &
                                 l%last(k) - l%first(k) + 1)
        end do
        do k = 1, min(l%sizes, l%axes)
            call kmm_launch_chunk(c, source + k - 1, l%size(k))
        end do
        do k = 1, l%count
            if (l%argument(k)%of%rank > 0) call describe_access(l, c, l%argument(k), k)
        end do
    end function

    ! True if there is nothing to run: an axis is empty, or the description is wrong.
    recursive logical function is_done(l, rt, stat, errmsg)
        class(kmm_launch), intent(in) :: l
        class(kmm_runtime), intent(in) :: rt
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        is_done = .true.
        if (allocated(l%mistake)) then
            call refuse(l%mistake, stat, errmsg)
        else if (.not. c_associated(rt%c) .or. l%axes == 0) then
            call refuse('a launch needs a runtime and an axis', stat, errmsg)
        else if (any(l%last(:l%axes) < l%first(:l%axes))) then
            call give(0, '', stat, errmsg)
        else
            is_done = .false.
        end if
    end function

    ! ---- Running it ----

    ! Calls a Fortran function on the CPU for each chunk:
    !     recursive subroutine f(chunk, args) bind(c)
    !         type(kmm_chunk), intent(in) :: chunk
    !         type(kmm_arguments), intent(in) :: args
    ! Returns before the chunks have run. Chunks run side by side on threads of libkmm.
    recursive subroutine launch_run(l, rt, f, label, stat, errmsg)
        class(kmm_launch), intent(inout), target :: l
        class(kmm_runtime), intent(in) :: rt
        type(c_funptr), value :: f
        character(*), intent(in), optional :: label
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(kmm_arguments), target :: args
        integer :: k
        args%count = l%count
        do k = 1, l%count
            associate (a => l%argument(k))
                args%argument(k) = passed(a%of%base, a%of%extent, a%value, a%of%kind, a%of%rank)
            end associate
        end do
        call launch_run_block(l, rt, f, c_loc(args), 8 + l%count*c_sizeof(args%argument(1)), &
                              label, stat, errmsg)
    end subroutine

    ! Calls a kmm_function_t of C for each chunk with a copy of `bytes` bytes at `block`, in which
    ! the addresses of arrays, c_loc(a), become those of the device.
    recursive subroutine launch_run_block(l, rt, f, block, bytes, label, stat, errmsg)
        class(kmm_launch), intent(inout), target :: l
        class(kmm_runtime), intent(in) :: rt
        type(c_funptr), value :: f
        type(c_ptr), intent(in) :: block
        integer(c_size_t), intent(in) :: bytes
        character(*), intent(in), optional :: label
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        integer :: status
        if (is_done(l, rt, stat, errmsg)) return
        status = kmm_launch_call(describe(l, rt, KMM_RANGE_0, label), f, block, bytes)
        call kmm_use(c_null_ptr)
        call finish(rt%c, status, stat, errmsg)
    end subroutine

    ! Launches a kernel, a kmm_kernel_t of C, whose parameters are the arguments in order: addresses
    ! and values. The axes are those of the grid's threads, which count from 0: axis(0, n - 1).
    recursive subroutine launch_run_kernel(l, rt, kernel, grid, block, label, stat, errmsg)
        class(kmm_launch), intent(inout), target :: l
        class(kmm_runtime), intent(in) :: rt
        type(c_ptr), intent(in) :: kernel
        integer, intent(in) :: grid(3), block(3)
        character(*), intent(in), optional :: label
        integer, intent(out), optional :: stat
        character(*), intent(inout), optional :: errmsg
        type(c_ptr) :: parameters(MOST_ARGUMENTS + 1)
        integer :: k, status
        if (is_done(l, rt, stat, errmsg)) return
        parameters = c_null_ptr
        do k = 1, l%count
            parameters(k) = c_loc(l%argument(k)%value)
            if (l%argument(k)%of%rank > 0) parameters(k) = c_loc(l%argument(k)%of%base)
        end do
        call kmm_launch_arm(describe(l, rt, KMM_GLOBAL_X, label))
        status = kmm_launch_kernel(kernel, kmm_geometry_t(grid, block, 0), parameters)
        call kmm_use(c_null_ptr)
        call finish(rt%c, status, stat, errmsg)
    end subroutine

    ! Ends the program if an argument is not what the function takes it for.
    recursive subroutine expect(args, number, kind, rank)
        type(kmm_arguments), intent(in) :: args
        integer, intent(in) :: number, rank
        integer(c_int), intent(in) :: kind
        logical :: is_right
        is_right = number >= 1 .and. number <= args%count
        if (is_right) is_right = args%argument(number)%kind == kind .and. &
                                 args%argument(number)%rank == rank
        if (is_right) return
        write (error_unit, '(a, i0, a)') 'kmm: error: argument ', number, &
            ' has another type or rank than the function gets, or is not there'
        error stop 1
    end subroutine

#define TYPE_OF real(c_float)
#define KIND_OF KMM_FLOAT
#define NAMED(name) name/**/_r4
#include "kmm_kind.inc"
#undef TYPE_OF
#undef KIND_OF
#undef NAMED

#define TYPE_OF real(c_double)
#define KIND_OF KMM_DOUBLE
#define NAMED(name) name/**/_r8
#include "kmm_kind.inc"
#undef TYPE_OF
#undef KIND_OF
#undef NAMED

#define TYPE_OF integer(c_int32_t)
#define KIND_OF KMM_INT32
#define NAMED(name) name/**/_i4
#include "kmm_kind.inc"
#undef TYPE_OF
#undef KIND_OF
#undef NAMED

#define TYPE_OF integer(c_int64_t)
#define KIND_OF KMM_INT64
#define NAMED(name) name/**/_i8
#include "kmm_kind.inc"
#undef TYPE_OF
#undef KIND_OF
#undef NAMED

end module
