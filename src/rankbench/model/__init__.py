"""The frozen records that travel between rooms, and the one error type users see. No I/O happens here.

Units stand last in a name: `time_ns`, `size_bytes`, `limit_s`.
"""

from __future__ import annotations

from rankbench.model.base import (
    ALL_RANKS,
    FORMS,
    ROTATING,
    THREADS,
    Binding,
    Buffers,
    Cache,
    Form,
    Launcher,
    Pages,
    Quantity,
    RankbenchError,
    Record,
)
from rankbench.model.campaigns import Campaign, Imported, Look
from rankbench.model.launches import (
    CaseResult,
    CaseStatus,
    Launch,
    LaunchFacts,
    LaunchStatus,
    RankFact,
    Series,
    SourceFact,
    Stream,
    Visit,
)
from rankbench.model.libraries import Candidate, Library, Receipt
from rankbench.model.machines import Cpu, Exchange, Machine, State
from rankbench.model.operations import Amount, Datatype, Description, Foreign, Meaning, Named, Operation, Option, Start
from rankbench.model.plans import Calls, CandidateSpec, Case, Job, Memory, Placement, Plan, Sampling, Stop, SuiteSpec
from rankbench.model.steps import CommandLine, Outcome, Step
from rankbench.model.verdicts import CaseVerdict, Comparison, Finding, Group, Sentence, Summary, Verdict

__all__ = [
    "ALL_RANKS",
    "FORMS",
    "ROTATING",
    "THREADS",
    "Amount",
    "Binding",
    "Buffers",
    "Cache",
    "Calls",
    "Campaign",
    "Candidate",
    "CandidateSpec",
    "Case",
    "CaseResult",
    "CaseStatus",
    "CaseVerdict",
    "CommandLine",
    "Comparison",
    "Cpu",
    "Datatype",
    "Description",
    "Exchange",
    "Finding",
    "Foreign",
    "Form",
    "Group",
    "Imported",
    "Job",
    "Launch",
    "LaunchFacts",
    "LaunchStatus",
    "Launcher",
    "Library",
    "Look",
    "Machine",
    "Meaning",
    "Memory",
    "Named",
    "Operation",
    "Option",
    "Outcome",
    "Pages",
    "Placement",
    "Plan",
    "Quantity",
    "RankFact",
    "RankbenchError",
    "Receipt",
    "Record",
    "Sampling",
    "Sentence",
    "Series",
    "SourceFact",
    "Start",
    "State",
    "Step",
    "Stop",
    "Stream",
    "SuiteSpec",
    "Summary",
    "Verdict",
    "Visit",
]
