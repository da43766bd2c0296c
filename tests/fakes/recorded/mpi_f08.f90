program calls
  use mpi_f08
  implicit none

  integer :: error, rank, ranks, i
  double precision :: mine(16), sum(16)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: statuses(2)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  mine = rank
  do i = 1, 40
    call MPI_Allreduce(mine, sum, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  do i = 1, 12
    call MPI_Irecv(sum, 4, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, requests(1), error)
    call MPI_Isend(mine, 4, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, requests(2), error)
    call MPI_Waitall(2, requests, statuses, error)
  end do
  do i = 1, 6
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, sum, 2, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, error)
  call MPI_Finalize(error)
end program
