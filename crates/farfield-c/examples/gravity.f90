! Accelerations of random masses, through a plan. Checks the error against the tolerance and the conservation of momentum.
program gravity
  use farfield
  implicit none
  integer(c_size_t), parameter :: n = 20000
  real(c_double), allocatable, target :: x(:, :), m(:), phi(:), a(:, :)
  real(c_double) :: errors(2), momentum(3)
  type(c_ptr) :: sum, plan, results(2)
  integer :: k

  allocate (x(3, n), m(n), phi(n), a(3, n))
  call random_number(x)
  call random_number(m)

  sum = farfield_sum_new("gravity" // c_null_char)
  call check(farfield_set_text(sum, "outputs" // c_null_char, "potential,acceleration" // c_null_char))
  call check(farfield_set_number(sum, "softening" // c_null_char, 0.01_c_double))
  call check(farfield_set_number(sum, "tolerance" // c_null_char, 1e-6_c_double))
  call check(farfield_plan_f64(sum, n, x, 0_c_size_t, c_null_ptr, plan))
  results = [c_loc(phi), c_loc(a)]
  call check(farfield_evaluate_f64(plan, m, n, results, 2_c_size_t))
  call check(farfield_verify_f64(plan, m, n, 200_c_size_t, 1_c_int64_t, errors))

  momentum = [(dot_product(m, a(k, :)), k = 1, 3)]
  print '(i0, a, 2es9.1, a, es9.1)', n, " masses, relative errors", errors, ", rate of change of momentum", norm2(momentum)
  if (any(errors > 1e-6) .or. norm2(momentum) > 1e-2 .or. any(phi >= 0)) error stop "wrong accelerations or potentials"

  ! An invalid argument gives a status and a message, and the program continues.
  if (farfield_set_number(sum, "order" // c_null_char, -1.0_c_double) /= FARFIELD_ARGUMENT) error stop "order -1 was accepted"
  if (index(farfield_complaint(), "order") == 0) error stop "the message does not name the argument"
  call farfield_plan_free(plan)
  call farfield_sum_free(sum)

contains

  subroutine check(status)
    integer(c_int), intent(in) :: status
    if (status /= FARFIELD_OK) then
      print '(a)', farfield_complaint()
      error stop 1
    end if
  end subroutine
end program
