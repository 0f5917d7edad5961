! SPDX-License-Identifier: Apache-2.0
! Module kmm compared with plain loops, over sizes at the edges, on the devices that KMM_DEVICES
! names; its errors. With an argument it prints the sizes of its structs instead, or fails.
module launched
    use, intrinsic :: iso_c_binding
    use kmm
    implicit none

    type, bind(c) :: scale_args
        type(c_ptr) :: x
        real(c_double) :: factor
    end type

    interface
        subroutine scale_chunk(chunk, block) bind(c)
            import
            type(kmm_chunk), intent(in) :: chunk
            type(c_ptr), value :: block
        end subroutine
        type(c_ptr) function add_kernel() bind(c)
            import
        end function
        subroutine scale_array(n, by, x) bind(c)
            import
            integer(c_int), value :: n
            real(c_float), value :: by
            type(c_ptr), value :: x
        end subroutine
    end interface
contains
    ! c(i) = a(i) + a(i + 1) + a(i + 2), times an integer and a number.
    recursive subroutine window(chunk, args) bind(c)
        type(kmm_chunk), intent(in) :: chunk
        type(kmm_arguments), intent(in) :: args
        real(c_double), pointer :: a(:), c(:)
        integer(c_int32_t) :: by
        real(c_double) :: factor
        integer(c_int64_t) :: i
        call kmm_get_array(args, 1, a)
        call kmm_get_value(args, 2, by)
        call kmm_get_array(args, 3, c)
        call kmm_get_value(args, 4, factor)
        do i = chunk%begin(1), chunk%end(1) - 1
            c(i) = by*factor*sum(a(i:i + 2))
        end do
    end subroutine

    ! The even elements of `to`, backwards.
    recursive subroutine strided(chunk, args) bind(c)
        type(kmm_chunk), intent(in) :: chunk
        type(kmm_arguments), intent(in) :: args
        real(c_double), pointer :: from(:), to(:)
        integer(c_int64_t) :: i
        call kmm_get_array(args, 1, from)
        call kmm_get_array(args, 2, to)
        do i = chunk%begin(1), chunk%end(1) - 1
            to(2*i) = from(size(from) + 1 - i)
        end do
    end subroutine

    ! Each element becomes the sum of those up to it.
    recursive subroutine prefix(chunk, args) bind(c)
        type(kmm_chunk), intent(in) :: chunk
        type(kmm_arguments), intent(in) :: args
        real(c_double), pointer :: from(:), to(:)
        integer(c_int64_t) :: i
        call kmm_get_array(args, 1, from)
        call kmm_get_array(args, 2, to)
        do i = chunk%begin(1), chunk%end(1) - 1
            to(i) = sum(from(:i))
        end do
    end subroutine

    ! The sums of rows, of which row r has the elements from begins(r) on, before begins(r + 1).
    recursive subroutine row_sums(chunk, args) bind(c)
        type(kmm_chunk), intent(in) :: chunk
        type(kmm_arguments), intent(in) :: args
        integer(c_int32_t), pointer :: begins(:)
        real(c_double), pointer :: values(:), to(:)
        integer(c_int64_t) :: r
        call kmm_get_array(args, 1, begins)
        call kmm_get_array(args, 2, values)
        call kmm_get_array(args, 3, to)
        do r = chunk%begin(1), chunk%end(1) - 1
            to(r) = sum(values(begins(r):begins(r + 1) - 1))
        end do
    end subroutine

    recursive subroutine transposed(chunk, args) bind(c)
        type(kmm_chunk), intent(in) :: chunk
        type(kmm_arguments), intent(in) :: args
        integer(c_int64_t), pointer :: from(:, :, :)
        real(c_float), pointer :: to(:, :, :)
        integer(c_int64_t) :: x, y, z
        call kmm_get_array(args, 1, from)
        call kmm_get_array(args, 2, to)
        do z = chunk%begin(3), chunk%end(3) - 1
            do y = chunk%begin(2), chunk%end(2) - 1
                do x = chunk%begin(1), chunk%end(1) - 1
                    to(y, x, z) = real(from(x, y, z))
                end do
            end do
        end do
    end subroutine

    recursive subroutine largest(chunk, args) bind(c)
        type(kmm_chunk), intent(in) :: chunk
        type(kmm_arguments), intent(in) :: args
        real(c_float), pointer :: from(:, :, :)
        integer(c_int32_t), pointer :: most(:)
        integer(c_int64_t) :: z
        call kmm_get_array(args, 1, from)
        call kmm_get_array(args, 2, most)
        do z = chunk%begin(1), chunk%end(1) - 1
            most(1) = max(most(1), int(maxval(from(:, :, z))))
        end do
    end subroutine

    recursive subroutine wrong(chunk, args) bind(c)
        type(kmm_chunk), intent(in) :: chunk
        type(kmm_arguments), intent(in) :: args
        real(c_float), pointer :: a(:)
        if (chunk%begin(1) > 0) call kmm_get_array(args, 1, a)
    end subroutine
end module

program main
    use launched
    use kmm_c, only: kmm_config_t, kmm_shape_t, kmm_geometry_t
    implicit none
    integer :: failures = 0, k, n
    integer, parameter :: sizes(6) = [0, 1, 2, 7, 1000, 4099], chunks(4) = [1, 3, 64, 5000]
    character(20) :: what
    type(kmm_runtime) :: rt

    if (command_argument_count() > 0) then
        call get_command_argument(1, what)
        if (what == 'sizes') call print_sizes()
        if (what == 'type') call get_wrong_type()
        if (what == 'stop') call rt%create('nonsense')
        stop
    end if
    call rt%create()
    do n = 1, size(sizes)
        do k = 1, size(chunks)
            if (sizes(n)/chunks(k) < 200) call test_one_dimension(sizes(n), chunks(k))
        end do
    end do
    call test_three_dimensions(1_c_int64_t, 1_c_int64_t, 1_c_int64_t)
    call test_three_dimensions(7_c_int64_t, 5_c_int64_t, 3_c_int64_t)
    call test_three_dimensions(40_c_int64_t, 30_c_int64_t, 20_c_int64_t)
    call test_parts(1, 1)
    call test_parts(100000, 9999)
    call test_functions_of_c(1)
    call test_functions_of_c(1000)
    call test_cuda(1)
    call test_cuda(1000)
    call test_errors()
    call rt%wait()
    call rt%destroy()
    print '(i0, a)', failures, ' failures'
    if (failures > 0) error stop 1

contains

    subroutine check(is_right, text)
        logical, intent(in) :: is_right
        character(*), intent(in) :: text
        if (is_right) return
        print '(2a)', 'wrong: ', text
        failures = failures + 1
    end subroutine

    subroutine test_one_dimension(n, length)
        integer, intent(in) :: n, length
        real(c_double), pointer :: a(:), c(:), even(:)
        real(c_double) :: x(n + 2), y(n), z(2*n), expected(n)
        integer :: j
        logical :: is_right
        type(kmm_launch) :: first, second, third
        type(kmm_index) :: i
        call random_number(x)
        x = anint(1000*x)
        z = -1
        call rt%allocate(a, [n + 2_c_int64_t])
        call rt%allocate(c, [int(n, c_int64_t)])
        call rt%allocate(even, [2_c_int64_t*n])
        call rt%copy_in(a, x)
        call rt%copy_in(even, z)
        i = first%axis(1, n)
        call first%chunk(length)
        call first%read(a, i .to. i + 2)
        call first%value(3)
        call first%write(c, i)
        call first%value(0.5_c_double)
        call first%run(rt, c_funloc(window))
        i = second%axis(1, n)
        call second%chunk(length)
        call second%read(c, n + 1 - i)
        call second%write(even, 2*i)
        call second%run(rt, c_funloc(strided), label='strided')
        call rt%copy_out(y, c)
        call rt%copy_out(z, even)
        i = third%axis(1, n)
        call third%chunk(length)
        call third%read(c, kmm_at(1) .to. i)
        call third%write(a, i)
        call third%run(rt, c_funloc(prefix))
        expected = 3*0.5_c_double*(x(1:n) + x(2:n + 1) + x(3:n + 2))
        call rt%copy_out(x, a)
        is_right = .true.
        do j = 1, n
            is_right = is_right .and. x(j) == sum(y(:j))
        end do
        call check(is_right, 'sums of the elements up to one')
        call check(all(y == expected), 'one dimension')
        call check(all(z(2::2) == expected(n:1:-1)) .and. all(z(1::2) == -1), 'strided')
        call rt%free(a)
        call rt%free(c)
        call rt%free(even)
        call check(.not. associated(a), 'a freed array')
    end subroutine

    ! Row r has mod(r, 4) elements.
    subroutine test_parts(n, length)
        integer, intent(in) :: n, length
        integer(c_int32_t), pointer :: begins(:)
        real(c_double), pointer :: values(:), to(:)
        integer(c_int32_t) :: offsets(n + 1)
        real(c_double) :: x(3*n), y(n)
        integer :: r
        type(kmm_launch) :: l
        type(kmm_index) :: i
        offsets(1) = 1
        do r = 1, n
            offsets(r + 1) = offsets(r) + mod(r, 4)
        end do
        call random_number(x)
        call rt%allocate(begins, [n + 1_c_int64_t])
        call rt%allocate(values, [3_c_int64_t*n])
        call rt%allocate(to, [int(n, c_int64_t)])
        call rt%copy_in(begins, offsets)
        call rt%copy_in(values, x)
        i = l%axis(1, n)
        call l%chunk(length)
        call l%read(begins, i .to. i + 1)
        call l%read(values, kmm_part(offsets, i))
        call l%write(to, i)
        call l%run(rt, c_funloc(row_sums))
        call rt%copy_out(y, to)
        call check(all([(y(r) == sum(x(offsets(r):offsets(r + 1) - 1)), r=1, n)]), 'parts')
        call rt%free(begins)
        call rt%free(values)
        call rt%free(to)
    end subroutine

    subroutine test_three_dimensions(w, h, d)
        integer(c_int64_t), intent(in) :: w, h, d
        integer(c_int64_t), pointer :: a(:, :, :)
        real(c_float), pointer :: b(:, :, :)
        integer(c_int32_t), pointer :: most(:)
        integer(c_int64_t) :: x(w, h, d)
        integer(c_int32_t) :: found(1)
        real(c_float) :: y(h, w, d), random(w, h, d)
        integer(c_int64_t) :: z
        logical :: is_right
        type(kmm_launch) :: l, m
        type(kmm_index) :: i, j, k
        call random_number(random)
        x = int(100000*random, c_int64_t)
        found = -1
        call rt%allocate(a, [w, h, d])
        call rt%allocate(b, [h, w, d])
        call rt%allocate(most, [1_c_int64_t])
        call rt%copy_in(a, x)
        call rt%copy_in(most, found)
        i = l%axis(1_c_int64_t, w)
        j = l%axis(1_c_int64_t, h)
        k = l%axis(1_c_int64_t, d)
        call l%chunk(3, 2, 4)
        call l%read(a, i, j, k)
        call l%write(b, j, i, k)
        call l%run(rt, c_funloc(transposed))
        k = m%axis(1_c_int64_t, d)
        call m%chunk(2)
        call m%read(b, kmm_all, kmm_all, k)
        call m%reduce(KMM_OP_MAX, most)
        call m%run(rt, c_funloc(largest))
        call rt%copy_out(y, b)
        call rt%copy_out(found, most)
        is_right = .true.
        do z = 1, d
            is_right = is_right .and. all(y(:, :, z) == transpose(real(x(:, :, z))))
        end do
        call check(is_right, 'three dimensions')
        call check(found(1) == maxval(x), 'a reduction')
        call rt%free(a)
        call rt%free(b)
        call rt%free(most)
    end subroutine

    subroutine test_functions_of_c(n)
        integer, intent(in) :: n
        real(c_double), pointer :: a(:)
        real(c_float), pointer :: b(:)
        real(c_double) :: x(n)
        real(c_float) :: y(n)
        type(scale_args), target :: args
        type(kmm_launch) :: l, m
        type(kmm_index) :: i
        x = 2
        y = 1
        call rt%allocate(a, [int(n, c_int64_t)])
        call rt%allocate(b, [int(n, c_int64_t)])
        call rt%copy_in(a, x)
        call rt%copy_in(b, y)
        i = l%axis(1, n)
        call l%chunk(100)
        call l%update(a, i)
        args = scale_args(c_loc(a), 1.5_c_double)
        call l%run_block(rt, c_funloc(scale_chunk), c_loc(args), c_sizeof(args))
        i = m%axis(0, n - 1)
        call m%chunk(64)
        call m%update(b, i + 1)
        call m%value(0.25_c_float)
        call m%value(n)
        call m%run_kernel(rt, add_kernel(), [(n + 31)/32, 1, 1], [32, 1, 1])
        call rt%copy_out(x, a)
        call rt%copy_out(y, b)
        call check(all(x == 3), 'a function of C')
        call check(all(y == 1.25), 'a kernel')
        call rt%free(a)
        call rt%free(b)
    end subroutine

    ! A function of CUDA source whose launch has a pragma, on the process's runtime.
    subroutine test_cuda(n)
        integer, intent(in) :: n
        type(kmm_runtime) :: process
        real(c_float), pointer :: a(:)
        real(c_float) :: x(n)
        call random_number(x)
        call process%use_default()
        call process%allocate(a, [int(n, c_int64_t)])
        call process%copy_in(a, x)
        call scale_array(n, 2.0, c_loc(a))
        x = 2*x
        call check_copy(process, a, x)
        call process%free(a)
    end subroutine

    subroutine check_copy(process, a, expected)
        type(kmm_runtime), intent(in) :: process
        real(c_float), intent(in), pointer :: a(:)
        real(c_float), intent(in) :: expected(:)
        real(c_float) :: x(size(expected))
        x = 0
        call process%copy_out(x, a)
        call check(all(x == expected), 'CUDA')
    end subroutine

    subroutine test_errors()
        type(kmm_runtime) :: none
        type(kmm_launch) :: l, many, of_part
        type(kmm_index) :: i
        real(c_float), pointer :: a(:), b(:, :), gone(:)
        real(c_float) :: x(10), y(3, 3)
        integer :: stat
        character(200) :: text
        call none%create('nonsense', stat=stat, errmsg=text)
        call check(stat == KMM_E_INVALID .and. index(text, 'nonsense') > 0, 'devices: '//text)
        call rt%allocate(gone, [-1_c_int64_t], stat, text)
        call check(stat == KMM_E_RANGE .and. .not. associated(gone), 'extent: '//text)
        call rt%allocate(a, [9_c_int64_t], stat)
        call rt%allocate(b, [3_c_int64_t, 3_c_int64_t])
        call check(stat == 0, 'no error')
        call rt%copy_in(a, x, stat, text)
        call check(stat == KMM_E_INVALID .and. index(text, 'sizes') > 0, 'sizes: '//text)
        call rt%copy_out(x(1:9), a, stat)
        call check(stat == 0, 'a part of an array')
        call rt%copy_out(y(1:1, :), a(1:3), stat, text)
        call check(stat == KMM_E_INVALID .and. index(text, 'contiguous') > 0, 'gaps: '//text)
        i = l%axis(1, 9)
        call l%read(b, i)
        call l%run(rt, c_funloc(wrong), stat=stat, errmsg=text)
        call check(stat == KMM_E_INVALID .and. index(text, 'dimension') > 0, 'region: '//text)
        i = of_part%axis(1, 9)
        call of_part%read(a, kmm_part([1, 5, 10], i) + 1)
        call of_part%run(rt, c_funloc(wrong), stat=stat, errmsg=text)
        call check(stat == KMM_E_INVALID .and. index(text, 'kmm_part') > 0, 'part: '//text)
        call many%run(rt, c_funloc(wrong), stat=stat)
        call check(stat == KMM_E_INVALID, 'no axis')
        i = many%axis(1, 9)
        call many%read(x(1:9), i)
        call many%run(rt, c_funloc(wrong), stat=stat, errmsg=text)
        call rt%free(a)
        call rt%free(b)
    end subroutine

    subroutine print_sizes()
        type(kmm_config_t) :: config
        type(kmm_shape_t) :: shape
        type(kmm_geometry_t) :: geometry
        type(kmm_chunk) :: chunk
        print '(a, i0)', 'kmm_config ', c_sizeof(config), 'kmm_shape ', c_sizeof(shape), &
            'kmm_geometry ', c_sizeof(geometry), 'kmm_chunk ', c_sizeof(chunk)
    end subroutine

    subroutine get_wrong_type()
        integer(c_int32_t), pointer :: a(:)
        type(kmm_launch) :: l
        type(kmm_index) :: i
        call rt%create('host')
        call rt%allocate(a, [9_c_int64_t])
        i = l%axis(1, 9)
        call l%write(a, i)
        call l%run(rt, c_funloc(wrong))
        call rt%wait()
    end subroutine
end program
