"""The frozen records that travel between rooms, and the one error type users see. No I/O happens here.

Units stand last in a name: `time_ns`, `size_bytes`, `limit_s`.
"""

from __future__ import annotations

from rankbench.model.base import (
    ALL_RANKS,
    FORMS,
    LEVEL,
    MEMORY_GROUPS,
    MULTIPLE,
    ROTATING,
    THREADS,
    WITH_THREADS,
    Binding,
    Buffers,
    Cache,
    DamagedFileError,
    Form,
    Launcher,
    Pages,
    Quantity,
    RankbenchError,
    Record,
)
from rankbench.model.campaigns import Campaign, ImportRecord, Look, Usage
from rankbench.model.columns import Column, Passes, RecordColumn, list_columns
from rankbench.model.launches import (
    BROKEN,
    LATE_START,
    LEAST_REST,
    MOST_REST,
    NO_CPU,
    NODE_LOST,
    REST_PART,
    TIME_LIMIT,
    AmbientSetting,
    CaseResult,
    CaseStatus,
    Evidence,
    Launch,
    LaunchFacts,
    LaunchGroup,
    LaunchStatus,
    LibraryFile,
    RankFact,
    ReceiveStatus,
    Series,
    SourceFact,
    StatusPair,
    StoredTable,
    Stream,
    Visit,
    find_least_restful,
    find_restless,
    list_rank_sets,
)
from rankbench.model.libraries import Candidate, Library, Receipt
from rankbench.model.machines import (
    LINKS_VARIABLE,
    UNKNOWN_MACHINE,
    Cpu,
    Exchange,
    Machine,
    NetworkDevice,
    NodeNetwork,
    State,
)
from rankbench.model.operations import (
    Amount,
    Datatype,
    Description,
    Foreign,
    Meaning,
    NamedUnit,
    Operation,
    Option,
    Start,
)
from rankbench.model.plans import (
    FILLED,
    NOT_REPORTED,
    SITE_MEMORY,
    Calls,
    CandidateSpec,
    Case,
    Job,
    Memory,
    Placement,
    Plan,
    ProgramSpec,
    Recorded,
    Sampling,
    Stop,
    SuiteSpec,
    Uncovered,
)
from rankbench.model.steps import CommandLine, Outcome, Step
from rankbench.model.tuning import Choice, Handover, ProvenSettings, Rule, Variable, Variant
from rankbench.model.verdicts import (
    AloneComparison,
    CaseVerdict,
    Claim,
    Comparison,
    Finding,
    Group,
    Level,
    Span,
    Summary,
    Verdict,
)
