"""Averages arrays over ranks, as in data-parallel training: a broadcast, then an allreduce and an allgather a step."""

from __future__ import annotations

import sys
from array import array

from mpi4py import MPI  # type: ignore[import-not-found]

length, steps = (int(word) for word in (*sys.argv[1:], "4096", "2000")[:2])
world = MPI.COMM_WORLD
values, total, norms = array("d", [1.0] * length), array("d", [0.0] * length), array("d", [0.0] * world.size)
world.Bcast(values, root=0)
began = MPI.Wtime()
for _ in range(steps):
    world.Allreduce(values, total, op=MPI.SUM)
    world.Allgather(total[:1], norms)
if world.rank == 0:
    print(f"time per step: {(MPI.Wtime() - began) / steps * 1e6:.3f} us")
    print(f"sum: {sum(total) / world.size}")
