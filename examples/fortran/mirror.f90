! SPDX-License-Identifier: Apache-2.0
! libkmm from Fortran: what examples/capi does in C. A matrix is mirrored in bands and summed, on
! the CPU and on two pretend devices that hold half of it.
! usage: mirror [first extent, at most 20000]
module functions
    use, intrinsic :: iso_c_binding
    use kmm
    implicit none
contains
    ! Reverses each column.
    recursive subroutine mirror(chunk, args) bind(c)
        type(kmm_chunk), intent(in) :: chunk
        type(kmm_arguments), intent(in) :: args
        integer(c_int32_t), pointer :: from(:, :), to(:, :)
        integer(c_int64_t) :: x, y
        call kmm_get_array(args, 1, from)
        call kmm_get_array(args, 2, to)
        do y = chunk%begin(2), chunk%end(2) - 1
            do x = chunk%begin(1), chunk%end(1) - 1
                to(x, y) = from(size(from, 1) + 1 - x, y)
            end do
        end do
    end subroutine

    recursive subroutine add_up(chunk, args) bind(c)
        type(kmm_chunk), intent(in) :: chunk
        type(kmm_arguments), intent(in) :: args
        integer(c_int32_t), pointer :: from(:, :)
        integer(c_int64_t), pointer :: total(:)
        integer(c_int64_t) :: y
        call kmm_get_array(args, 1, from)
        call kmm_get_array(args, 2, total)
        do y = chunk%begin(1), chunk%end(1) - 1
            total(1) = total(1) + sum(int(from(:, y), c_int64_t))
        end do
    end subroutine
end module

program main
    use functions
    implicit none
    integer(c_int64_t) :: w, h, x, y, expected, z
    integer(c_int32_t), allocatable :: in(:, :)
    logical :: on_cpu, on_pair
    character(20) :: text
    type(kmm_runtime) :: cpu, pair

    w = 300
    if (command_argument_count() > 0) then
        call get_command_argument(1, text)
        read (text, *) w
    end if
    if (w < 1 .or. w > 20000) error stop 'usage: mirror [first extent, at most 20000]'
    h = 2*w + 1
    allocate (in(w, h))
    expected = 0
    z = 1
    do y = 1, h
        do x = 1, w ! the upper bits of z, which wraps around as 64 bits without a sign do
            z = wrapped(z)
            in(x, y) = int(ibits(z, 33, 31), c_int32_t)
            expected = expected + in(x, y)
        end do
    end do

    call cpu%create('host')
    call pair%create('host:2', device_mem=w*h*4 + 2**18, frame_bytes=2_c_int64_t**16)
    on_cpu = is_right(cpu)
    on_pair = is_right(pair)
    call cpu%destroy()
    call pair%destroy()
    print '(a, i0, a, i0, a, i0, 4a)', 'mirror: ', w, ' x ', h, ', sum = ', expected, ': ', &
        trim(merge('ok    ', 'FAILED', on_cpu)), ', ', trim(merge('ok    ', 'FAILED', on_pair))
    if (.not. (on_cpu .and. on_pair)) error stop 1

contains

    ! z * 6364136223846793005 + 1442695040888963407 modulo 2**64, in digits of 32 bits.
    integer(c_int64_t) function wrapped(z)
        integer(c_int64_t), intent(in) :: z
        integer(c_int64_t), parameter :: a = 6364136223846793005_c_int64_t, &
            b = 1442695040888963407_c_int64_t, low = 65535
        integer(c_int64_t) :: digit(0:3), carry
        integer :: j, k
        digit = [(iand(shiftr(b, 16*k), low), k=0, 3)]
        do j = 0, 3
            carry = 0
            do k = 0, 3 - j
                carry = carry + digit(j + k) + iand(shiftr(a, 16*j), low)*iand(shiftr(z, 16*k), low)
                digit(j + k) = iand(carry, low)
                carry = shiftr(carry, 16)
            end do
        end do
        wrapped = 0
        do k = 0, 3
            wrapped = ior(wrapped, shiftl(digit(k), 16*k))
        end do
    end function

    ! Mirrors the matrix twice over; true if it comes back and its sum is right.
    logical function is_right(rt)
        type(kmm_runtime), intent(in) :: rt
        integer(c_int32_t), pointer :: a(:, :), b(:, :)
        integer(c_int64_t), pointer :: total(:)
        integer(c_int32_t), allocatable :: once(:, :), twice(:, :)
        integer(c_int64_t) :: sums(1)
        call rt%allocate(a, [w, h])
        call rt%allocate(b, [w, h])
        call rt%allocate(total, [1_c_int64_t])
        sums = 0
        call rt%copy_in(a, in)
        call rt%copy_in(total, sums)
        call launch_mirror(rt, h/5, a, b)
        call launch_sum(rt, b, total)
        allocate (once(w, h), twice(w, h))
        call rt%copy_out(once, b)
        call launch_mirror(rt, h/3, b, a)
        call rt%copy_out(twice, a)
        call rt%copy_out(sums, total)
        is_right = all(twice == in) .and. all(once == in(w:1:-1, :)) .and. sums(1) == expected
        call rt%free(a)
        call rt%free(b)
        call rt%free(total)
    end function

    subroutine launch_mirror(rt, columns, from, to)
        type(kmm_runtime), intent(in) :: rt
        integer(c_int64_t), intent(in) :: columns
        integer(c_int32_t), intent(in), pointer :: from(:, :), to(:, :)
        type(kmm_launch) :: l
        type(kmm_index) :: i, j
        i = l%axis(1_c_int64_t, w)
        j = l%axis(1_c_int64_t, h)
        call l%chunk(w, columns)
        call l%read(from, kmm_all, j)
        call l%write(to, i, j)
        call l%run(rt, c_funloc(mirror), 'mirror')
    end subroutine

    subroutine launch_sum(rt, from, total)
        type(kmm_runtime), intent(in) :: rt
        integer(c_int32_t), intent(in), pointer :: from(:, :)
        integer(c_int64_t), intent(in), pointer :: total(:)
        type(kmm_launch) :: l
        type(kmm_index) :: j
        j = l%axis(1_c_int64_t, h)
        call l%chunk(h/7)
        call l%read(from, kmm_all, j)
        call l%reduce(KMM_OP_ADD, total, kmm_at(1))
        call l%run(rt, c_funloc(add_up), 'sum')
    end subroutine
end program
