"""Titles of the OSU micro-benchmarks, which differ between versions, and the programs that print them."""

from __future__ import annotations

import functools
import re
from collections.abc import Container
from typing import Literal, NamedTuple

from rankbench.foreign import Role, make_benchmark
from rankbench.foreign.suites.osu import MEGABYTE, NAME, PROGRAMS
from rankbench.model import Form, Meaning, Operation

CACHE_SIZE = 100
"""Number of cached titles."""
TITLE_LINE = re.compile(
    r"#\s*OSU\s+(\S.{0,200}?)(?:\s+Test){1,2}(?:\s+\(?(?:v|Version )?(\d[\w.+-]{0,30})\)?)?", re.IGNORECASE
)
ACCELERATOR = re.compile(r"-((?:CUDA|OPENACC|ROCM|SYCL|MANAGED)(?: MANAGED)?)\b", re.IGNORECASE)
TITLES = {
    "latency": "latency",
    "latency persistent": "latency_persistent",
    "multi-threaded latency": "latency_mt",
    "multi-process latency": "latency_mp",
    "partitioned latency": "partitioned_latency",
    "multi latency": "multi_lat",
    "bandwidth": "bw",
    "bandwidth persistent": "bw_persistent",
    "bi-directional bandwidth": "bibw",
    "bi-directional bandwidth persistent": "bibw_persistent",
    "multiple bandwidth / message rate": "mbw_mr",
    "bandwidth congestion in": "bw_fan_in",
    "bandwidth congestion out": "bw_fan_out",
    "put latency": "put_latency",
    "get latency": "get_latency",
    "accumulate latency": "acc_latency",
    "get_accumulate latency": "get_acc_latency",
    "compare_and_swap latency": "cas_latency",
    "fetch_and_op latency": "fop_latency",
    "get multi latency": "get_multi_lat",
    "put bandwidth": "put_bw",
    "get bandwidth": "get_bw",
    "put bi-directional bandwidth": "put_bibw",
    "get multiple bandwidth bandwidth": "get_mbw",
}
"""Programs by title. Titles of collectives consist of the words below and the call's name."""
CALL_WORDS = {
    "all-to-all": "alltoall",
    "all-to-allv": "alltoallv",
    "all-to-allw": "alltoallw",
    "broadcast": "bcast",
    "neighborhood": "neighbor",
}
OTHER_WORDS = {"latency", "personalized", "exchange", "non-blocking", "persistent"}


class Title(NamedTuple):
    """The title of a run."""

    text: str
    program: str
    version: str
    accelerator: str


@functools.lru_cache(CACHE_SIZE)
def read_title(text: str) -> Title | None:
    """Return the title in a line; None if it is not one."""
    title = TITLE_LINE.fullmatch(text)
    if not title:
        return None
    accelerator = ACCELERATOR.search(title[1])
    program = _find_program(ACCELERATOR.sub("", title[1]))
    return Title(title[1], program, title[2] or "", accelerator[1].upper() if accelerator else "")


def _find_program(title: str) -> str:
    """Return the program that prints a title, without `osu_`; empty if it is unknown."""
    plain = re.sub(r"^mpi[\s_]+", "", " ".join(title.lower().split()))
    words = plain.split()
    call = "_".join(CALL_WORDS.get(word, word) for word in words if word not in OTHER_WORDS)
    spelt = f"{'i' * ('non-blocking' in words)}{call}{'_persistent' * ('persistent' in words)}"
    return TITLES.get(plain) or (spelt if spelt in PROGRAMS else "")


def make_unknown(title: str, roles: Container[Role], quantity: str, *, sized: bool) -> Operation:
    """Return an operation for an unknown benchmark, from its title and headings."""
    meaning = Meaning(
        over_calls="mean",
        over_ranks="mean",
        start="not reported",
        megabyte=MEGABYTE if quantity == "bandwidth" else 0,
        text=f"unknown to rankbench: {title} in the output; assumed to be a mean over calls and ranks",
    )
    slug = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-") or "unknown"
    metric: Literal["time", "bandwidth", "rate"] = "time"
    if quantity in {"bandwidth", "rate"}:
        metric = "rate" if quantity == "rate" else "bandwidth"
    form: Form = "nonblocking" if "pure" in roles else "blocking"
    return make_benchmark(
        NAME,
        slug,
        title,
        f"{title}, by OSU",
        meaning,
        metric=metric,
        kind="other",
        forms=(form,),
        sized=sized,
    )
