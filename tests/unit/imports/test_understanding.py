"""Outputs in forms that are common in the field: what an import takes each run for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from fakes import imports
from wording import WORDING, find_lines

from rankbench import imports as importer
from rankbench.imports import ImportRequest, Source
from rankbench.model import RankbenchError

LATENCY = imports.format_latencies((1, 0.5), (8, 0.6))
BANDWIDTH = imports.format_osu(imports.BANDWIDTH, (1, 4.0), (8, 35.0))
ALLREDUCE = imports.format_osu(
    "\n# OSU MPI Allreduce Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n", (4, 2.5), (8, 2.6)
)
IALLREDUCE = (
    "\n# OSU MPI Non-blocking Allreduce Latency Test v7.4\n# Overall = Coll. Init + Compute + MPI_Test + MPI_Wait\n\n"
    "# Datatype: MPI_INT.\n# Size           Overall(us)       Compute(us)    Pure Comm.(us)        Overlap(%)\n"
)
IMB = """\
#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.11, MPI-1 part
#----------------------------------------------------------------
#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.47         0.00
            8         1000         0.52        15.38
# All processes entering MPI_Finalize
"""
TIMES = "\nreal\t0m1.{0}s\nuser\t0m0.2{0}s\nsys\t0m0.1{0}s\n"


class Form(NamedTuple):
    """Files, and what an import takes them for."""

    files: dict[str, str]
    rows: Sequence[tuple[str, int, int, int]]
    """Label, ranks, nodes and runs, in the order of the table."""
    pattern: str = ""
    notes: str = ""
    """A part of the notes."""


def join(*texts: str) -> str:
    return "".join(text if text.endswith("\n") else f"{text}\n" for text in texts)


FORMS = {
    # --- one log of several runs
    "package names before each run": Form(
        {"job.out": join(*(f"{name}%gcc@12 osu_{what}\n{text}" for name in ("liba@1.2", "libb@3.4")
                           for what, text in (("latency", LATENCY), ("allreduce", ALLREDUCE))))},
        [("liba@1.2", 2, 0, 1), ("liba@1.2", 0, 0, 1), ("libb@3.4", 2, 0, 1), ("libb@3.4", 0, 0, 1)],
    ),
    "headings between libraries": Form(
        {"slurm-1234.out": join("==== MPICH ====", LATENCY, BANDWIDTH, "==== Open MPI ====", LATENCY, BANDWIDTH)},
        [("MPICH", 2, 0, 2), ("Open MPI", 2, 0, 2)],
    ),
    "a heading and a line for each benchmark": Form(
        {"slurm-1234.out": join("### mpich", "Running osu_latency", LATENCY, "Running osu_bw", BANDWIDTH,
                                "### openmpi", "Running osu_latency", LATENCY, "Running osu_bw", BANDWIDTH)},
        [("mpich", 2, 0, 2), ("openmpi", 2, 0, 2)],
    ),
    "modules and launchers": Form(
        {"slurm-1.out": join("+ module load openmpi/4.1.5", "+ mpirun -np 4 -ppn 2 ./osu_allreduce", ALLREDUCE,
                             "+ module load mpich/4.2", "+ mpirun -np 4 -ppn 2 ./osu_allreduce", ALLREDUCE)},
        [("openmpi/4.1.5", 4, 2, 1), ("mpich/4.2", 4, 2, 1)],
    ),
    "two tools in one log": Form(
        {"job.out": join("mpirun -np 2 ./osu_latency", LATENCY, "mpirun -np 2 IMB-MPI1 PingPong", IMB,
                         "mpirun -np 2 ./osu_bw", BANDWIDTH)},
        [("place", 2, 0, 3)],
    ),
    "PMB": Form({"job.out": IMB.replace("Intel(R) MPI Benchmarks 2021.11", "PALLAS MPI Benchmark Suite V2.2")},
                [("place", 2, 0, 1)]),
    "builds in folders of the program": Form(
        {"job.out": join(*(f"srun -n 2 /build/{name}/osu_latency\n{LATENCY}" for name in ("gcc", "icc")))},
        [("place path=/build/gcc", 2, 0, 1), ("place path=/build/icc", 2, 0, 1)],
    ),
    "hosts of the command": Form(
        {"job.out": join(*(f"mpirun -np 2 -host {hosts} osu_latency\n{LATENCY}" for hosts in ("n1,n2", "n1,n9")))},
        [("place hosts=n1,n2", 2, 2, 1), ("place hosts=n1,n9", 2, 2, 1)],
    ),
    "commands traced by the shell": Form(
        {"job.out": join(*(f"Running: mpirun -np 4 ./osu_allreduce\n+ mpirun -np 4 ./osu_allreduce\n{ALLREDUCE}"
                           f"0.{number}user 0.03system 0:01.{number}elapsed 90%CPU\n0inputs (4{number}minor)pagefaults"
                           for number in (12, 34)))},
        [("place", 4, 0, 2)],
    ),
    "the head of a job script": Form(
        {"a.out": join("#!/bin/bash", "#SBATCH -N 4", "#SBATCH --ntasks-per-node=2", ALLREDUCE)}, [("place", 8, 4, 1)]
    ),
    "three repeats": Form(
        {"job.out": join(*(f"Start run {number} of 3\n{ALLREDUCE}{TIMES.format(number)}" for number in (1, 2, 3)))},
        [("place", 0, 0, 3)],
    ),
    "repeats between times and dates": Form(
        {"job.out": join(*(f"Thu Nov 26 1{number}:00:0{number} CET 2026\niteration {number}\n{LATENCY}"
                           for number in range(3)))},
        [("place", 2, 0, 3)],
    ),
    "a scaling study with srun": Form(
        {"job.out": join(*(f"srun -N {nodes} -n {4 * nodes} --mpi=pmix ./osu_allreduce -i 100\n{ALLREDUCE}"
                           for nodes in (1, 2, 4)))},
        [("place", 4, 1, 1), ("place", 8, 2, 1), ("place", 16, 4, 1)],
    ),
    "jsrun": Form(
        {"job.out": join(*(f"time jsrun -n {n} -a 2 -c 2 -r 1 ./osu_allreduce\n{ALLREDUCE}" for n in (4, 64)))},
        [("place", 8, 4, 1), ("place", 128, 64, 1)],
    ),
    "aprun and ibrun": Form(
        {"a.out": join("aprun -n 64 -N 32 ./osu_allreduce", ALLREDUCE),
         "b.out": join("ibrun -n 128 ./osu_allreduce", ALLREDUCE)},
        [("place", 64, 2, 1), ("place", 128, 0, 1)],
    ),
    "ranks in words": Form(
        {"job.out": join(*(f"Running with {ranks} processes on {nodes} nodes\n{ALLREDUCE}"
                           for ranks, nodes in ((16, 2), (64, 8))))},
        [("place", 16, 2, 1), ("place", 64, 8, 1)],
    ),
    "a loop that echoes NP=": Form(
        {"job.out": join(*(f"NP={ranks}\n{ALLREDUCE}" for ranks in (2, 4, 8)))},
        [("place", 2, 0, 1), ("place", 4, 0, 1), ("place", 8, 0, 1)],
    ),
    "placements of Open MPI": Form(
        {"job.out": join("mpirun -n 8 --map-by ppr:4:node osu_allreduce", ALLREDUCE,
                         "mpirun -n 8 --map-by ppr:8:node osu_allreduce", ALLREDUCE)},
        [("place", 8, 2, 1), ("place", 8, 1, 1)],
    ),
    "settings of a library": Form(
        {"job.out": join("mpirun -np 2 --mca btl self,vader ./osu_latency", LATENCY,
                         "mpirun -np 2 --mca btl self,tcp ./osu_latency", LATENCY)},
        [("place btl=self,vader", 2, 0, 1), ("place btl=self,tcp", 2, 0, 1)],
    ),
    "an exported setting": Form(
        {"job.out": join("mpirun -np 2 ./osu_latency", LATENCY, "export I_MPI_FABRICS=ofi",
                         "mpirun -np 2 ./osu_latency", LATENCY)},
        [("place", 2, 0, 1), ("place I_MPI_FABRICS=ofi", 2, 0, 1)],
    ),
    "a variable before the command": Form(
        {"job.out": join("UCX_TLS=rc mpirun -np 2 ./osu_bw", BANDWIDTH, "UCX_TLS=ud mpirun -np 2 ./osu_bw", BANDWIDTH)},
        [("place UCX_TLS=rc", 2, 0, 1), ("place UCX_TLS=ud", 2, 0, 1)],
    ),
    "variables of Hydra": Form(
        {"job.out": join(*(f"mpiexec -genv FI_PROVIDER {name} -n 2 -ppn 1 ./osu_latency\n{LATENCY}"
                           for name in ("tcp", "verbs")))},
        [("place FI_PROVIDER=tcp", 2, 2, 1), ("place FI_PROVIDER=verbs", 2, 2, 1)],
    ),
    "buffers of a device by option": Form(
        {"job.out": join("mpirun -np 2 ./osu_bw H H", BANDWIDTH, "mpirun -np 2 ./osu_bw -d cuda D D", BANDWIDTH)},
        [("H H", 2, 0, 1), ("-d cuda D D", 2, 0, 1)],
    ),
    "ranges of sizes are one measurement": Form(
        {"job.out": join("mpirun -np 2 ./osu_latency -m 1:1", LATENCY, "mpirun -np 2 ./osu_latency -m 8:8", LATENCY)},
        [("place", 2, 0, 2)],
    ),
    "a banner of the library": Form(
        {"a.out": join("[0] MPI startup(): Intel(R) MPI Library, Version 2021.8  Build 20221129", LATENCY),
         "b.out": join("MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)", LATENCY)},
        [("intel-mpi/2021.8", 2, 0, 1), ("cray-mpich/8.1.25.17", 2, 0, 1)],
    ),
    "paths of launchers": Form(
        {"job.out": join("/opt/openmpi-4.1.6/bin/mpirun -np 2 ./osu_latency", LATENCY,
                         "/opt/mpich-4.2.0/bin/mpirun -np 2 ./osu_latency", LATENCY)},
        [("openmpi/4.1.6", 2, 0, 1), ("mpich/4.2.0", 2, 0, 1)],
    ),
    # --- names of files and folders
    "libraries in file names": Form(
        {f"{name}-ping.out": LATENCY for name in ("mpich4", "ompi3", "ompi4")},
        [("mpich4", 2, 0, 1), ("ompi3", 2, 0, 1), ("ompi4", 2, 0, 1)],
    ),
    "repeats in file names": Form(
        {f"osu_latency.rep{number}.out": LATENCY for number in range(3)}, [("place", 2, 0, 3)]
    ),
    "jobs in file names": Form(
        {f"slurm-{number}.out": LATENCY for number in (4711001, 4711007)}, [("place", 2, 0, 2)]
    ),
    "nodes in file names": Form(
        {f"osu_allreduce_{nodes}_nodes.out": ALLREDUCE for nodes in (4, 64)},
        [("place", 0, 4, 1), ("place", 0, 64, 1)],
    ),
    "a folder for each library": Form(
        {f"{name}/osu_{what}.out": text for name in ("mpich", "openmpi")
         for what, text in (("latency", LATENCY), ("bw", BANDWIDTH))},
        [("mpich", 2, 0, 2), ("openmpi", 2, 0, 2)],
    ),
    "a folder for each benchmark below": Form(
        {f"gcc-{name}/Osu_{what}/job.out": text for name in ("libx", "liby")
         for what, text in (("latency", LATENCY), ("bw", BANDWIDTH))},
        [("gcc-libx", 2, 0, 2), ("gcc-liby", 2, 0, 2)],
    ),
    "a folder for each benchmark above": Form(
        {f"osu_{what}/{name}/out.txt": text for name in ("libx", "liby")
         for what, text in (("latency", LATENCY), ("bw", BANDWIDTH))},
        [("libx", 2, 0, 2), ("liby", 2, 0, 2)],
    ),
    "libraries and nodes in folders": Form(
        {f"{name}/{nodes}nodes/osu_allreduce.out": ALLREDUCE for name in ("mpich", "openmpi") for nodes in (2, 4)},
        [("mpich", 0, 2, 1), ("mpich", 0, 4, 1), ("openmpi", 0, 2, 1), ("openmpi", 0, 4, 1)],
    ),
    "libraries and repeats in folders": Form(
        {f"{name}/run{number}/osu_latency.out": LATENCY for name in ("mpich", "openmpi") for number in (1, 2)},
        [("mpich", 2, 0, 2), ("openmpi", 2, 0, 2)],
    ),
    "a pattern with ranks": Form(
        {f"{name}/allreduce_{ranks}.txt": ALLREDUCE for name in ("x", "y") for ranks in (16, 48)},
        [("x", 16, 0, 1), ("x", 48, 0, 1), ("y", 16, 0, 1), ("y", 48, 0, 1)],
        pattern="{library}/{benchmark}_{ranks}.txt",
    ),
    "a pattern with a setting": Form(
        {f"{name}/{mode}/osu_latency.out": LATENCY for name in ("x", "y") for mode in ("ib", "tcp")},
        [("x network=ib", 2, 0, 1), ("x network=tcp", 2, 0, 1), ("y network=ib", 2, 0, 1), ("y network=tcp", 2, 0, 1)],
        pattern="{library}/{network}/{benchmark}.out",
    ),
    # --- tables of columns
    "a CSV with library and ranks": Form(
        {"results.csv": "library,ranks,benchmark,size,time_us\n" + "".join(
            f"{name},{ranks},allreduce,{size},{size / 8}\n" for name in ("mpich", "openmpi") for ranks in (4, 8)
            for size in (8, 16))},
        [("mpich", 4, 0, 1), ("mpich", 8, 0, 1), ("openmpi", 4, 0, 1), ("openmpi", 8, 0, 1)],
    ),
    "a CSV for each library": Form(
        {f"{name}.csv": "size;latency (us);bandwidth (MB/s)\n8;1.5;5.3\n16;1.6;10\n" for name in ("mpich", "openmpi")},
        [("mpich", 0, 0, 2), ("openmpi", 0, 0, 2)],
    ),
    "a CSV with repeats and a unit column": Form(
        {"x/r.csv": "run,size,value_of,time,unit\n" + "".join(f"{run},8,a,1.{run},ms\n" for run in (1, 2, 3))},
        [("x", 0, 0, 3)],
    ),
    "OSU before version 3": Form(
        {"a.out": "# OSU MPI Latency Test (Version 2.2)\n# Size\t\tLatency (us) \n0\t\t3.24\n1\t\t3.30\n"},
        [("place", 2, 0, 1)],
    ),
    # --- forms in which it is easy to pool too much, or too little
    "messages of loaded modules": Form(
        {"a.out": join(*(f"Loading {name}\n  Loading requirement: ucx/1.14\nmpirun -np 2 osu_latency\n{LATENCY}"
                         for name in ("openmpi/4.1.5", "mpich/4.2")))},
        [("openmpi/4.1.5", 2, 0, 1), ("mpich/4.2", 2, 0, 1)],
    ),
    "libraries after dates": Form(
        {"a.out": join("2026-11-26 mpich", LATENCY, "2026-11-26 openmpi", LATENCY)},
        [("mpich", 2, 0, 1), ("openmpi", 2, 0, 1)],
    ),
    "dates before and after": Form(
        {"a.out": join(*(f"Start: Thu Nov {day} 10:00:00 CET 2026\n{LATENCY}End: Thu Nov {day} 10:01:00 CET 2026"
                         for day in (19, 26)))},
        [("place", 2, 0, 2)],
    ),
    "statistics of a job behind each run": Form(
        {"a.out": join(*(f"{LATENCY}Job ID: {number}\nCPU Utilized: 00:00:0{number}" for number in (1, 3)))},
        [("place", 2, 0, 2)],
    ),
    "a number before each run": Form(
        {"a.out": join("2", ALLREDUCE, "4", ALLREDUCE, "8", ALLREDUCE)},
        [("2", 0, 0, 1), ("4", 0, 0, 1), ("8", 0, 0, 1)],
    ),
    "a counter before each run": Form({"a.out": join("1", LATENCY, "2", LATENCY)}, [("place", 2, 0, 2)]),
    "groups of groups": Form(
        {"a.out": join(*(f"== cluster {name} ==\n-- lib1 --\n{LATENCY}-- lib2 --\n{LATENCY}" for name in "XY"))},
        [("X lib1", 2, 0, 1), ("X lib2", 2, 0, 1), ("Y lib1", 2, 0, 1), ("Y lib2", 2, 0, 1)],
    ),
    "several runs below a heading": Form(
        {"a.out": join("== A ==", LATENCY, LATENCY, "== B ==", LATENCY, LATENCY)}, [("A", 2, 0, 2), ("B", 2, 0, 2)]
    ),
    "wrappers of launcher and program": Form(
        {"a.out": join(*(f"numactl -m {number} mpirun -np 2 osu_latency\n{LATENCY}" for number in (0, 1))),
         "b.out": join(*(f"srun -n 2 apptainer exec {name}.sif osu_bw\n{BANDWIDTH}" for name in ("old", "new")))},
        [("place wrapper=numactl -m 0", 2, 0, 1), ("place wrapper=numactl -m 1", 2, 0, 1),
         ("place program wrapper=apptainer exec old.sif", 2, 0, 1),
         ("place program wrapper=apptainer exec new.sif", 2, 0, 1)],
    ),
    "versions of launchers": Form(
        {"a.out": join("mpirun (Open MPI) 5.0.3", LATENCY),
         "b.out": join("HYDRA build details:", "    Version:      4.2.1", LATENCY)},
        [("openmpi/5.0.3", 2, 0, 1), ("mpich/4.2.1", 2, 0, 1)],
    ),
    "a time before every line": Form(
        {"a.out": "".join(f"2026-11-27T10:00:0{number}.123456789Z {line}\n"
                          for number, line in enumerate(LATENCY.splitlines()))},
        [("place", 2, 0, 1)],
    ),
    "a loop over nodes": Form(
        {"a.out": join(*(f"srun -N {nodes} --ntasks-per-node=32 ./osu_allreduce\n{ALLREDUCE}" for nodes in (2, 4)))},
        [("place", 64, 2, 1), ("place", 128, 4, 1)],
    ),
    "a session recorded by script": Form(
        {"typescript": join("Script started on 2026-11-27 10:00:00+00:00", "user@n1:~$ mpirun -n 2 ./osu_latency\r",
                            LATENCY.replace("\n", "\r\n"), "user@n1:~$ exit\r", "Script done on 2026-11-27 10:01:00")},
        [("place", 2, 0, 1)],
    ),
    "colours": Form({"a.out": "\x1b[32m" + LATENCY.replace("\n", "\x1b[0m\n\x1b[32m") + "\n"}, [("place", 2, 0, 1)]),
    "a Markdown page": Form(
        {"README.md": join("# Results", "```", "$ mpirun -n 2 osu_latency", LATENCY, "```", "That is good.")},
        [("place", 2, 0, 1)],
    ),
    "a command over several lines": Form(
        {"a.out": join(*(f"mpirun -np {ranks} \\\n  --map-by ppr:2:node \\\n  ./osu_allreduce\n{ALLREDUCE}"
                         for ranks in (4, 8)))},
        [("place", 4, 2, 1), ("place", 8, 4, 1)],
    ),
    "versions below libraries": Form(
        {f"{name}/osu_latency.txt": LATENCY for name in ("openmpi/4", "openmpi/5", "mpich/4")},
        [("mpich/4", 2, 0, 1), ("openmpi/4", 2, 0, 1), ("openmpi/5", 2, 0, 1)],
    ),
    "repeats below libraries": Form(
        {f"{name}/osu_latency.txt": LATENCY for name in ("openmpi/1", "openmpi/2", "mpich/1", "mpich/2")},
        [("mpich", 2, 0, 2), ("openmpi", 2, 0, 2)],
    ),
    "versions in file names": Form(
        {f"osu_latency_ompi-{version}.txt": LATENCY for version in ("4.1.5", "5.0.1")},
        [("ompi-4.1.5", 2, 0, 1), ("ompi-5.0.1", 2, 0, 1)],
    ),
    "nights in folders": Form(
        {f"res-2026-11-{day}/osu_latency.txt": LATENCY for day in ("01", "02")}, [("res", 2, 0, 2)]
    ),
    "Slurm's nodes and ranks in file names": Form(
        {f"allreduce_N{nodes}_n{32 * nodes}.txt": ALLREDUCE for nodes in (2, 4)},
        [("place", 64, 2, 1), ("place", 128, 4, 1)],
    ),
    "libraries of different benchmarks": Form(
        {"a.out": join("module load openmpi/5", LATENCY), "b.out": join("module load mpich/4", BANDWIDTH)},
        [("openmpi/5", 2, 0, 1), ("mpich/4", 2, 0, 1)],
    ),
    # --- damage and noise
    "a file with an error alone": Form(
        {"osu_latency.out": "This test requires exactly two processes\n", "osu_bw.out": BANDWIDTH},
        [("place", 2, 0, 2)],
        notes="osu-latency refused to run (This test requires exactly two processes)",
    ),
    "a missing thread level": Form(
        {"a.out": join(LATENCY, "srun -n 2 osu_latency_mt", "MPI_Init_thread must return MPI_THREAD_MULTIPLE!")},
        [("place", 2, 0, 2)],
        notes="osu-latency_mt refused to run (MPI_Init_thread must return MPI_THREAD_MULTIPLE!)",
    ),
    "a usage error": Form(
        {"a.out": join("srun -n 2 osu_latency -q", "osu_latency: invalid option -- 'q'", "Usage: osu_latency [options]",
                       "srun -n 4 osu_allreduce", ALLREDUCE)},
        [("place", 2, 0, 1), ("place", 4, 0, 1)],
        notes="osu-latency refused to run (osu_latency: invalid option -- 'q')",
    ),
    "no line end": Form({"a.out": LATENCY.rstrip("\n")}, [("place", 2, 0, 1)]),
    "a cut last row": Form(
        {"a.out": LATENCY.rstrip("\n")[:-1]}, [("place", 2, 0, 1)], notes="1 line that may be cut (a.out:5)"
    ),
    "an exit code after the table": Form(
        {"a.out": join(LATENCY, "0")}, [("place", 2, 0, 1)], notes="1 line that cannot be read (a.out:6)"
    ),
    "another program after the table": Form(
        {"a.out": join(ALLREDUCE, "LAMMPS (29 Sep 2021)", "  32000 atoms", "Step Temp", " 0 1.44", " 100 0.75")},
        [("place", 0, 0, 1)],
        notes="lines that may be of another program",
    ),
    "warnings between rows": Form(
        {"a.out": LATENCY.replace("\n8 ", "\n[n1:1] UCX WARN unused variable UCX_X\n8 ")},
        [("place", 2, 0, 1)],
        notes="1 line among the results",
    ),
    "a long preamble": Form(
        {"a.out": join(*(f"loading package {number}" for number in range(1000)), "", LATENCY)}, [("place", 2, 0, 1)]
    ),
    "the rank before every line": Form(
        {"a.out": "".join(f"[1,0]<stdout>:{line}\n" for line in LATENCY.splitlines())}, [("place", 2, 0, 1)]
    ),
    "a crash after the title": Form(
        {"a.out": join(ALLREDUCE, IALLREDUCE, "[n1:31808] *** Process received signal ***",
                       "[n1:31808] Signal: Segmentation fault (11)")},
        [("place", 0, 0, 2)],
        notes="osu-iallreduce crashed before its first size (Segmentation fault)",
    ),
    "a refusal in place of a title": Form(
        {"a.out": join("mpirun -np 4 ./osu_latency", "This test requires exactly two processes",
                       "mpirun -np 4 ./osu_allreduce", ALLREDUCE)},
        [("place", 2, 0, 1), ("place", 4, 0, 1)],
        notes="osu-latency refused to run (This test requires exactly two processes)",
    ),
    "the time limit": Form(
        {"a.out": join(LATENCY, "slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2026-11-26 DUE TO TIME LIMIT ***"),
         "b.out": imports.format_latencies((1, 0.5), (8, 0.6), (16, 0.7))},
        [("a", 2, 0, 1), ("b", 2, 0, 1)],
        notes="osu-latency was ended by the time limit after 8 B",
    ),
    "other files beside": Form(
        {"x/osu_latency.out": LATENCY, "x/meta.json": '{"nodes": 2}', "x/plot.png": "\x89PNG\x1a\n\x00"},
        [("x", 2, 0, 1)],
        notes="2 files not output of a benchmark (meta.json, plot.png)",
    ),
}  # fmt: skip


def import_form(form: Form, folder: Path) -> importer.Imported:
    paths = []
    for name, text in form.files.items():
        path = folder / "place" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    request = ImportRequest([Source(path) for path in sorted(paths)], pattern=form.pattern)
    (campaign,) = importer.import_campaigns(request, folder / "made")
    return campaign


@pytest.mark.parametrize("name", FORMS)
def test_runs_have_labels_and_ranks_from_the_text_around_them(name: str, tmp_path: Path) -> None:
    form = FORMS[name]
    campaign = import_form(form, tmp_path)
    rows = [(row.label, row.ranks, row.nodes, row.runs) for row in campaign.understanding]
    assert sorted(rows) == sorted(form.rows)
    assert form.notes in "\n".join(campaign.store.campaign.notes)


def refuse_form(files: dict[str, str], folder: Path) -> str:
    with pytest.raises(RankbenchError) as caught:
        import_form(Form(files, []), folder)
    return str(caught.value)


def test_numbers_in_names_that_nothing_explains_are_refused_with_a_pattern(tmp_path: Path) -> None:
    message = refuse_form({f"allreduce_{number}.out": ALLREDUCE for number in (4, 64)}, tmp_path)
    assert message == WORDING
    assert "--pattern '{benchmark}_{ranks}.out'" in message


def test_a_letter_and_a_number_in_names_are_refused_with_a_pattern(tmp_path: Path) -> None:
    message = refuse_form({f"osu_allreduce_n{number}.txt": ALLREDUCE for number in (4, 64)}, tmp_path)
    assert find_lines(message, "say what it is") == WORDING


def test_a_folder_besides_a_known_library_may_be_a_machine(tmp_path: Path) -> None:
    text = [join(f"module load {name}", LATENCY) for name in ("openmpi/4", "mpich/4")]
    files = {f"{machine}/{number}.out": text[number - 1] for machine in ("alpha", "beta") for number in (1, 2)}
    message = refuse_form(files, tmp_path)
    assert message == WORDING
    assert "--pattern '{machine}/" in message


def test_failures_are_rows_of_the_campaign(tmp_path: Path) -> None:
    store = import_form(FORMS["a crash after the title"], tmp_path).store
    rows = store.cases().filter(operation="osu-iallreduce").select("status", "reason", "size_bytes").rows()
    assert rows == [("crashed", WORDING, 0)]


def test_sizes_after_the_time_limit_are_rows(tmp_path: Path) -> None:
    store = import_form(FORMS["the time limit"], tmp_path).store
    rows = store.cases().filter(candidate="a", size_bytes=16).select("status", "reason").rows()
    assert [status for status, _ in rows] == ["not-run"]


def test_a_cut_row_is_left_out_and_a_complete_one_is_read(tmp_path: Path) -> None:
    complete = import_form(FORMS["no line end"], tmp_path / "complete").store
    assert [case.size_bytes for case in complete.campaign.cases] == [1, 8]
    cut = import_form(FORMS["a cut last row"], tmp_path / "cut").store
    assert [case.size_bytes for case in cut.campaign.cases] == [1]
