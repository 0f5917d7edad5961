! SPDX-License-Identifier: Apache-2.0
! The part of kmm.h and kmm/launch.h that module kmm uses, by the names of the headers.
module kmm_c
    use, intrinsic :: iso_c_binding
    implicit none
    public

    ! ---- Numbers of kmm.h and kmm/launch.h ----
    integer(c_int), parameter :: KMM_E_INVALID = -1
    integer(c_int), parameter :: KMM_E_MEMORY = -2
    integer(c_int), parameter :: KMM_E_ADDRESS = -3
    integer(c_int), parameter :: KMM_E_KERNEL = -4
    integer(c_int), parameter :: KMM_E_DEVICE = -5
    integer(c_int), parameter :: KMM_E_NO_DEVICE = -6
    integer(c_int), parameter :: KMM_E_POISONED = -7
    integer(c_int), parameter :: KMM_E_OVERLAP = -8
    integer(c_int), parameter :: KMM_E_RANGE = -9
    integer(c_int), parameter :: KMM_E_UNSUPPORTED = -10
    integer(c_int), parameter :: KMM_E_IO = -11
    integer(c_int), parameter :: KMM_E_STATE = -12
    integer(c_int), parameter :: KMM_E_DISK_FULL = -13
    integer(c_int), parameter :: KMM_E_CORRUPT = -14
    integer(c_int), parameter :: KMM_E_ACCESS = -15
    integer(c_int), parameter :: KMM_OP_ADD = 0
    integer(c_int), parameter :: KMM_OP_MUL = 1
    integer(c_int), parameter :: KMM_OP_MIN = 2
    integer(c_int), parameter :: KMM_OP_MAX = 3
    integer(c_int), parameter :: KMM_OP_BAND = 4
    integer(c_int), parameter :: KMM_OP_BOR = 5
    integer(c_int), parameter :: KMM_OP_BXOR = 6
    integer(c_int), parameter :: KMM_OP_LAND = 7
    integer(c_int), parameter :: KMM_OP_LOR = 8
    integer(c_int), parameter :: KMM_READ = 1
    integer(c_int), parameter :: KMM_WRITE = 2
    integer(c_int), parameter :: KMM_UPDATE = 3
    integer(c_int), parameter :: KMM_REDUCE = 4
    integer(c_int), parameter :: KMM_INT32 = 2
    integer(c_int), parameter :: KMM_INT64 = 3
    integer(c_int), parameter :: KMM_FLOAT = 8
    integer(c_int), parameter :: KMM_DOUBLE = 9
    integer(c_int), parameter :: KMM_GLOBAL_X = 0
    integer(c_int), parameter :: KMM_RANGE_0 = 6
    integer(c_int32_t), parameter :: KMM_LAUNCH_VERSION = 2
    integer, parameter :: KMM_MAX_DIMS = 6
    integer(c_int), parameter :: KMM_VERSION_NUMBER = 100
    integer(c_int64_t), parameter :: KMM_WHOLE = -huge(0_c_int64_t) - 1

    ! ---- Structs of the C headers ----
    type, bind(c) :: kmm_config_t
        type(c_ptr) :: devices = c_null_ptr
        integer(c_int64_t) :: device_mem = 0, frame_bytes = 0
        integer(c_int32_t) :: threads = 0
        integer(c_int64_t) :: host_mem = 0
        type(c_ptr) :: spill_dir = c_null_ptr
        integer(c_int64_t) :: device_keep_free = 0, pinned_mem = 0
    end type

    type, bind(c) :: kmm_shape_t
        integer(c_int32_t) :: dims
        integer(c_int64_t) :: extent(KMM_MAX_DIMS)
        integer(c_size_t) :: element_bytes
        type(c_ptr) :: label = c_null_ptr
    end type

    type, bind(c) :: kmm_geometry_t
        integer(c_int32_t) :: grid(3), block(3)
        integer(c_size_t) :: shared_bytes
        type(c_ptr) :: stream = c_null_ptr
    end type

    ! The part of the axes that one call of a function has: axis k from begin(k) up to, but not
    ! including, end(k).
    type, bind(c) :: kmm_chunk
        integer(c_int64_t) :: begin(3), end(3)
        integer(c_int64_t) :: lower(3), launch, thread
    end type

    interface
        integer(c_int) function kmm_create_version(version, bytes, out, config) bind(c)
            import
            integer(c_int), value :: version
            integer(c_size_t), value :: bytes
            type(c_ptr), intent(out) :: out
            type(kmm_config_t), intent(in) :: config
        end function
        type(c_ptr) function kmm_default() bind(c)
            import
        end function
        integer(c_int) function kmm_wait(rt) bind(c)
            import
            type(c_ptr), value :: rt
        end function
        integer(c_int) function kmm_destroy(rt) bind(c)
            import
            type(c_ptr), value :: rt
        end function
        subroutine kmm_use(rt) bind(c)
            import
            type(c_ptr), value :: rt
        end subroutine
        type(c_ptr) function kmm_error_text(rt) bind(c)
            import
            type(c_ptr), value :: rt
        end function
        integer(c_int) function kmm_array_create(rt, shape, out) bind(c)
            import
            type(c_ptr), value :: rt
            type(kmm_shape_t), intent(in) :: shape
            type(c_ptr), intent(out) :: out
        end function
        integer(c_int) function kmm_array_destroy(rt, base) bind(c)
            import
            type(c_ptr), value :: rt, base
        end function
        integer(c_int) function kmm_copy_in(rt, array, from, bytes) bind(c)
            import
            type(c_ptr), value :: rt, array, from
            integer(c_size_t), value :: bytes
        end function
        integer(c_int) function kmm_copy_out(rt, to, array, bytes) bind(c)
            import
            type(c_ptr), value :: rt, to, array
            integer(c_size_t), value :: bytes
        end function
        type(c_ptr) function kmm_launch_begin_version(version, kernel, file, line) bind(c)
            import
            integer(c_int32_t), value :: version
            type(c_ptr), value :: kernel, file
            integer(c_int), value :: line
        end function
        subroutine kmm_launch_label(l, label) bind(c)
            import
            type(c_ptr), value :: l
            character(c_char), intent(in) :: label(*)
        end subroutine
        subroutine kmm_launch_axis(l, name, source, lower, length) bind(c)
            import
            type(c_ptr), value :: l, name
            integer(c_int), value :: source
            integer(c_int64_t), value :: lower, length
        end subroutine
        subroutine kmm_launch_chunk(l, source, size) bind(c)
            import
            type(c_ptr), value :: l
            integer(c_int), value :: source
            integer(c_int64_t), value :: size
        end subroutine
        subroutine kmm_launch_access(l, mode, text, base, element_bytes) bind(c)
            import
            type(c_ptr), value :: l, text, base
            integer(c_int), value :: mode
            integer(c_size_t), value :: element_bytes
        end subroutine
        subroutine kmm_launch_reduce(l, op, type, text, base) bind(c)
            import
            type(c_ptr), value :: l, text, base
            integer(c_int), value :: op, type
        end subroutine
        subroutine kmm_launch_extent(l, extent) bind(c)
            import
            type(c_ptr), value :: l
            integer(c_int64_t), value :: extent
        end subroutine
        subroutine kmm_launch_index(l, lower, length) bind(c)
            import
            type(c_ptr), value :: l
            integer(c_int64_t), value :: lower, length
        end subroutine
        subroutine kmm_launch_coef(l, axis, lower, length) bind(c)
            import
            type(c_ptr), value :: l
            integer(c_int), value :: axis
            integer(c_int64_t), value :: lower, length
        end subroutine
        subroutine kmm_launch_offsets(l, offsets, type, count) bind(c)
            import
            type(c_ptr), value :: l, offsets
            integer(c_int), value :: type
            integer(c_int64_t), value :: count
        end subroutine
        integer(c_int) function kmm_launch_call(l, function, args, bytes) bind(c)
            import
            type(c_ptr), value :: l, args
            type(c_funptr), value :: function
            integer(c_size_t), value :: bytes
        end function
        subroutine kmm_launch_arm(l) bind(c)
            import
            type(c_ptr), value :: l
        end subroutine
        integer(c_int) function kmm_launch_kernel(kernel, geometry, args) bind(c)
            import
            type(c_ptr), value :: kernel
            type(kmm_geometry_t), intent(in) :: geometry
            type(c_ptr), intent(in) :: args(*)
        end function
        integer(c_size_t) function strlen(text) bind(c)
            import
            type(c_ptr), value :: text
        end function
    end interface

end module
