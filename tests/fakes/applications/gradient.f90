! Conjugate gradients for a chain of points with springs: in each iteration neighbours exchange a value, and two sums of
! eight bytes are made over all ranks. Arguments: points of a rank, iterations, and microseconds by which the last rank
! computes longer.
program gradient
  implicit none
  include 'mpif.h'
  integer :: ranks, rank, error, points, iterations, step, late_us, below, above
  real(8), allocatable :: x(:), r(:), p(:), q(:)
  real(8) :: rho, before, alpha, until, began
  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  points = argument(1, 2000)
  iterations = argument(2, 20000)
  late_us = argument(3, 0)
  below = merge(rank - 1, MPI_PROC_NULL, rank > 0)
  above = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
  allocate (x(points), r(points), p(0:points + 1), q(points))
  x = 0
  r = 1
  p = 0
  p(1:points) = r
  rho = total(dot_product(r, r))
  began = MPI_Wtime()
  do step = 1, iterations
    call exchange(p(1), p(points + 1), below, above)
    call exchange(p(points), p(0), above, below)
    q = 2.001d0*p(1:points) - p(0:points - 1) - p(2:points + 1)
    if (rank == ranks - 1) then
      until = MPI_Wtime() + late_us*1d-6
      do while (late_us > 0 .and. MPI_Wtime() < until)
      end do
    end if
    alpha = rho/total(dot_product(p(1:points), q))
    x = x + alpha*p(1:points)
    r = r - alpha*q
    before = rho
    rho = max(total(dot_product(r, r)), 1d-200)
    p(1:points) = r + rho/before*p(1:points)
  end do
  if (rank == 0) then
    print '(a,f0.5,a)', 'time per iteration: ', (MPI_Wtime() - began)/iterations*1d6, ' us'
  end if
  call MPI_Finalize(error)

contains

  integer function argument(place, usual)
    integer, intent(in) :: place, usual
    character(32) :: text
    argument = usual
    if (command_argument_count() >= place) then
      call get_command_argument(place, text)
      read (text, *) argument
    end if
  end function

  real(8) function total(own)
    real(8), intent(in) :: own
    call MPI_Allreduce(own, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end function

  subroutine exchange(value, place, to, from)
    real(8), intent(in) :: value
    real(8), intent(inout) :: place
    integer, intent(in) :: to, from
    call MPI_Sendrecv(value, 1, MPI_DOUBLE_PRECISION, to, 0, place, 1, MPI_DOUBLE_PRECISION, from, 0, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, error)
  end subroutine
end program
