"""The configuration of a lab's Slurm: one controller on the head, one daemon a node, all files in the lab's folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

PACKAGES = {"slurmctld": "slurm-wlm", "slurmd": "slurm-wlm", "munged": "munge"}
ONE_USER = "one_user.c"
"""Preloaded for the daemons where an ordinary user made the namespaces."""
NODE_TIMEOUT_S = 10
"""Slurm gives up a node that is silent for so long, and the jobs on it."""


class Cores(NamedTuple):
    """What Slurm is configured to believe of each node, whatever the machine has."""

    sockets: int
    cores: int
    """Of each socket."""


def configuration(folder: Path, nodes: Sequence[str], cores: Cores) -> str:
    """Return slurm.conf. Where a node is declared to be down, its jobs end; where it comes up again, it serves
    again."""
    path = folder / "slurm"
    shape = f"CPUs={cores.sockets * cores.cores} Sockets={cores.sockets} CoresPerSocket={cores.cores} ThreadsPerCore=1"
    return f"""ClusterName=lab
SlurmctldHost=head
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={path}/munge.socket
CredType=cred/munge
StateSaveLocation={path}/state
SlurmdSpoolDir={path}/spool-%n
SlurmctldPidFile={path}/slurmctld.pid
SlurmdPidFile={path}/slurmd-%n.pid
SlurmctldLogFile={path}/slurmctld.log
SlurmdLogFile={path}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MailProg=/bin/true
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=64
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout={NODE_TIMEOUT_S}
InactiveLimit=0
KillWait=2
MinJobAge=300
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=1000,bf_interval=1
NodeName={",".join(nodes)} {shape} RealMemory=1024 State=UNKNOWN
PartitionName=lab Nodes={",".join(nodes)} Default=YES MaxTime=INFINITE State=UP
"""
