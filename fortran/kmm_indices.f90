! SPDX-License-Identifier: Apache-2.0
! Indices of launches: sums of axes times numbers, and ranges of them.
module kmm_indices
    use kmm_c
    implicit none
    private
    public :: kmm_index, kmm_all, kmm_at, kmm_part
    public :: operator(+), operator(-), operator(*), operator(.to.)

    integer, parameter, public :: MOST_AXES = 3

    ! The indices of one dimension that a region has: from `lower` to `upper`, each a constant plus
    ! axes times coefficients, or all.
    type :: kmm_index
        integer(c_int64_t) :: lower = 0, upper = 0
        integer(c_int64_t) :: of_lower(MOST_AXES) = 0, of_upper(MOST_AXES) = 0
        logical :: is_all = .false.
        ! Where parts begin, from 0 on; the indices number them. Not allocated: they are elements.
        integer(c_int64_t), allocatable :: offsets(:)
        logical :: is_wrong = .false. ! it was computed of parts
    end type
    type(kmm_index), parameter :: kmm_all = kmm_index(is_all=.true.)

    ! One index that is a number.
    interface kmm_at
        procedure at_i4, at_i8
    end interface

    ! The elements of one part, or of several: those from offsets(i) on, before offsets(i + 1), as
    ! the rows of a matrix in CSR form. Offsets count from 1. They are copied.
    interface kmm_part
        procedure part_i4, part_i8
    end interface

    interface operator(+)
        procedure plus, plus_i4, plus_i8, i4_plus, i8_plus
    end interface
    interface operator(-)
        procedure minus, minus_i4, minus_i8, i4_minus, i8_minus
    end interface
    interface operator(*)
        procedure i4_times, i8_times
    end interface
    ! The indices from the one to the other: i - 1 .to. i + 1.
    interface operator(.to.)
        procedure to
    end interface

contains

    recursive pure type(kmm_index) function at_i8(number) result(x)
        integer(c_int64_t), intent(in) :: number
        x%lower = number
        x%upper = number
    end function
    recursive pure type(kmm_index) function at_i4(number) result(x)
        integer(c_int32_t), intent(in) :: number
        x = at_i8(int(number, c_int64_t))
    end function
    recursive pure type(kmm_index) function part_i8(offsets, numbers) result(x)
        integer(c_int64_t), intent(in) :: offsets(:)
        type(kmm_index), intent(in) :: numbers
        x = numbers
        x%is_wrong = is_part(numbers) .or. numbers%is_all .or. size(offsets) == 0
        x%offsets = offsets - 1
    end function
    recursive pure type(kmm_index) function part_i4(offsets, numbers) result(x)
        integer(c_int32_t), intent(in) :: offsets(:)
        type(kmm_index), intent(in) :: numbers
        x = part_i8(int(offsets, c_int64_t), numbers)
    end function
    recursive pure logical function is_part(x)
        type(kmm_index), intent(in) :: x
        is_part = allocated(x%offsets) .or. x%is_wrong
    end function
    recursive pure type(kmm_index) function plus(a, b) result(x)
        type(kmm_index), intent(in) :: a, b
        x = indices(a%lower + b%lower, a%upper + b%upper, a%of_lower + b%of_lower, &
                    a%of_upper + b%of_upper, a%is_all .or. b%is_all)
        x%is_wrong = is_part(a) .or. is_part(b)
    end function
    recursive pure type(kmm_index) function indices(lower, upper, of_lower, of_upper, is_all) &
        result(x)
        integer(c_int64_t), intent(in) :: lower, upper, of_lower(:), of_upper(:)
        logical, intent(in) :: is_all
        x%lower = lower
        x%upper = upper
        x%of_lower = of_lower
        x%of_upper = of_upper
        x%is_all = is_all
    end function
    recursive pure type(kmm_index) function plus_i8(a, b) result(x)
        type(kmm_index), intent(in) :: a
        integer(c_int64_t), intent(in) :: b
        x = plus(a, at_i8(b))
    end function
    recursive pure type(kmm_index) function plus_i4(a, b) result(x)
        type(kmm_index), intent(in) :: a
        integer(c_int32_t), intent(in) :: b
        x = plus(a, at_i4(b))
    end function
    recursive pure type(kmm_index) function i8_plus(a, b) result(x)
        integer(c_int64_t), intent(in) :: a
        type(kmm_index), intent(in) :: b
        x = plus(at_i8(a), b)
    end function
    recursive pure type(kmm_index) function i4_plus(a, b) result(x)
        integer(c_int32_t), intent(in) :: a
        type(kmm_index), intent(in) :: b
        x = plus(at_i4(a), b)
    end function
    recursive pure type(kmm_index) function minus(a, b) result(x)
        type(kmm_index), intent(in) :: a, b
        x = plus(a, i8_times(-1_c_int64_t, b))
    end function
    recursive pure type(kmm_index) function minus_i8(a, b) result(x)
        type(kmm_index), intent(in) :: a
        integer(c_int64_t), intent(in) :: b
        x = minus(a, at_i8(b))
    end function
    recursive pure type(kmm_index) function minus_i4(a, b) result(x)
        type(kmm_index), intent(in) :: a
        integer(c_int32_t), intent(in) :: b
        x = minus(a, at_i4(b))
    end function
    recursive pure type(kmm_index) function i8_minus(a, b) result(x)
        integer(c_int64_t), intent(in) :: a
        type(kmm_index), intent(in) :: b
        x = minus(at_i8(a), b)
    end function
    recursive pure type(kmm_index) function i4_minus(a, b) result(x)
        integer(c_int32_t), intent(in) :: a
        type(kmm_index), intent(in) :: b
        x = minus(at_i4(a), b)
    end function
    ! A negative factor exchanges the ends of a range.
    recursive pure type(kmm_index) function i8_times(a, b) result(x)
        integer(c_int64_t), intent(in) :: a
        type(kmm_index), intent(in) :: b
        if (a < 0) then
            x = indices(a*b%upper, a*b%lower, a*b%of_upper, a*b%of_lower, b%is_all)
        else
            x = indices(a*b%lower, a*b%upper, a*b%of_lower, a*b%of_upper, b%is_all)
        end if
        x%is_wrong = is_part(b)
    end function
    recursive pure type(kmm_index) function i4_times(a, b) result(x)
        integer(c_int32_t), intent(in) :: a
        type(kmm_index), intent(in) :: b
        x = i8_times(int(a, c_int64_t), b)
    end function
    recursive pure type(kmm_index) function to(a, b) result(x)
        type(kmm_index), intent(in) :: a, b
        x = indices(a%lower, b%upper, a%of_lower, b%of_upper, a%is_all .or. b%is_all)
        x%is_wrong = is_part(a) .or. is_part(b)
    end function

end module
