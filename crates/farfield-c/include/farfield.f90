! Fortran interface of farfield, equal to farfield.h. Compile it with your program and link with -lfarfield_c.
! Points are arrays of shape (3, n), or (2, n) in the plane.
module farfield
  use, intrinsic :: iso_c_binding
  implicit none

  integer(c_int), parameter :: FARFIELD_OK = 0, FARFIELD_ARGUMENT = 1, FARFIELD_MEMORY = 2, FARFIELD_DEVICE = 3, &
                               FARFIELD_DEFECT = 4

  interface
    function farfield_coulomb_f64(source_count, sources, charges, target_count, targets, tolerance, potential, gradient) &
        bind(c) result(status)
      import
      integer(c_size_t), value :: source_count, target_count
      real(c_double), intent(in) :: sources(3, *), charges(*)
      type(c_ptr), value :: targets
      real(c_double), value :: tolerance
      type(c_ptr), value :: potential, gradient
      integer(c_int) :: status
    end function

    function farfield_gravity_f64(source_count, sources, masses, target_count, targets, gravitational_constant, softening, &
        tolerance, potential, acceleration) bind(c) result(status)
      import
      integer(c_size_t), value :: source_count, target_count
      real(c_double), intent(in) :: sources(3, *), masses(*)
      type(c_ptr), value :: targets
      real(c_double), value :: gravitational_constant, softening, tolerance
      type(c_ptr), value :: potential, acceleration
      integer(c_int) :: status
    end function

    function farfield_biot_savart_f64(source_count, sources, strengths, target_count, targets, core, core_size, tolerance, &
        velocity, velocity_gradient) bind(c) result(status)
      import
      integer(c_size_t), value :: source_count, target_count
      real(c_double), intent(in) :: sources(3, *), strengths(3, *)
      type(c_ptr), value :: targets
      character(kind=c_char), intent(in) :: core(*)
      real(c_double), value :: core_size, tolerance
      type(c_ptr), value :: velocity, velocity_gradient
      integer(c_int) :: status
    end function

    ! Strings for C end with c_null_char: farfield_sum_new("gravity" // c_null_char).
    function farfield_sum_new(kernel) bind(c) result(sum)
      import
      character(kind=c_char), intent(in) :: kernel(*)
      type(c_ptr) :: sum
    end function

    subroutine farfield_sum_free(sum) bind(c)
      import
      type(c_ptr), value :: sum
    end subroutine

    function farfield_set_text(sum, key, value) bind(c) result(status)
      import
      type(c_ptr), value :: sum
      character(kind=c_char), intent(in) :: key(*), value(*)
      integer(c_int) :: status
    end function

    function farfield_set_number(sum, key, value) bind(c) result(status)
      import
      type(c_ptr), value :: sum
      character(kind=c_char), intent(in) :: key(*)
      real(c_double), value :: value
      integer(c_int) :: status
    end function

    function farfield_set_sizes(sum, sizes, count) bind(c) result(status)
      import
      type(c_ptr), value :: sum
      real(c_double), intent(in) :: sizes(*)
      integer(c_size_t), value :: count
      integer(c_int) :: status
    end function

    function farfield_plan_f64(sum, source_count, sources, target_count, targets, plan) bind(c) result(status)
      import
      type(c_ptr), value :: sum
      integer(c_size_t), value :: source_count, target_count
      real(c_double), intent(in) :: sources(*)
      type(c_ptr), value :: targets
      type(c_ptr) :: plan
      integer(c_int) :: status
    end function

    function farfield_plan_f32(sum, source_count, sources, target_count, targets, plan) bind(c) result(status)
      import
      type(c_ptr), value :: sum
      integer(c_size_t), value :: source_count, target_count
      real(c_float), intent(in) :: sources(*)
      type(c_ptr), value :: targets
      type(c_ptr) :: plan
      integer(c_int) :: status
    end function

    subroutine farfield_plan_free(plan) bind(c)
      import
      type(c_ptr), value :: plan
    end subroutine

    ! results: c_loc of one array for each output, or c_null_ptr for an output that is not wanted.
    function farfield_evaluate_f64(plan, strengths, strength_count, results, result_count) bind(c) result(status)
      import
      type(c_ptr), value :: plan
      real(c_double), intent(in) :: strengths(*)
      integer(c_size_t), value :: strength_count, result_count
      type(c_ptr), intent(in) :: results(*)
      integer(c_int) :: status
    end function

    function farfield_evaluate_f32(plan, strengths, strength_count, results, result_count) bind(c) result(status)
      import
      type(c_ptr), value :: plan
      real(c_float), intent(in) :: strengths(*)
      integer(c_size_t), value :: strength_count, result_count
      type(c_ptr), intent(in) :: results(*)
      integer(c_int) :: status
    end function

    function farfield_verify_f64(plan, strengths, strength_count, samples, seed, errors) bind(c) result(status)
      import
      type(c_ptr), value :: plan
      real(c_double), intent(in) :: strengths(*)
      integer(c_size_t), value :: strength_count, samples
      integer(c_int64_t), value :: seed
      real(c_double), intent(out) :: errors(*)
      integer(c_int) :: status
    end function

    function farfield_message() bind(c) result(message)
      import
      type(c_ptr) :: message
    end function
  end interface

contains

  ! Returns the message of the last failed call of this thread.
  function farfield_complaint() result(text)
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: message(:)
    integer :: length, k
    call c_f_pointer(farfield_message(), message, [100000])
    length = 0
    do while (message(length + 1) /= c_null_char)
      length = length + 1
    end do
    allocate (character(len=length) :: text)
    do k = 1, length
      text(k:k) = message(k)
    end do
  end function
end module
