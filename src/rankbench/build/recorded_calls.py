"""The calls that the recorder counts, and the C text of their wrappers.

Each line of CALLS is a blocking call: its name, the variants that exist besides (`i`: nonblocking, `p`: persistent,
`c`: large counts, `r`: one-sided with a request), what its parameters are, and the data of one partner: `count*type`;
behind a slash the buffer that may be MPI_IN_PLACE and the data that counts then. `counts[]` is the mean over partners,
`counts[me]` the element of the own rank. Completions and starts of requests are in `recorder/requests.c`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

CALLS = """
Send c i p | buf count type dest tag comm | count*type
Bsend c i p | buf count type dest tag comm | count*type
Ssend c i p | buf count type dest tag comm | count*type
Rsend c i p | buf count type dest tag comm | count*type
Recv c i p | out count type source tag comm status | count*type
Sendrecv c i | buf sendcount sendtype dest tag out recvcount recvtype source tag comm status | sendcount*sendtype
Sendrecv_replace c i | out count type dest tag source tag comm status | count*type
Mrecv c i | out count type message status | count*type
Probe | source tag comm status |
Iprobe | source tag comm flag status |
Mprobe | source tag comm message status |
Improbe | source tag comm flag message status |
Barrier i p | comm |
Bcast c i p | out count type root comm | count*type
Reduce c i p | buf out count type op root comm | count*type
Allreduce c i p | buf out count type op comm | count*type
Scan c i p | buf out count type op comm | count*type
Exscan c i p | buf out count type op comm | count*type
Reduce_scatter_block c i p | buf out recvcount type op comm | recvcount*type
Reduce_scatter c i p | buf out recvcounts type op comm | recvcounts[]*type
Gather c i p | buf sendcount sendtype out recvcount recvtype root comm | sendcount*sendtype / buf recvcount*recvtype
Gatherv c i p | buf sendcount sendtype out recvcounts displs recvtype root comm | sendcount*sendtype / buf recvcounts[me]*recvtype
Scatter c i p | buf sendcount sendtype out recvcount recvtype root comm | recvcount*recvtype / out sendcount*sendtype
Scatterv c i p | buf sendcounts displs sendtype out recvcount recvtype root comm | recvcount*recvtype / out sendcounts[me]*sendtype
Allgather c i p | buf sendcount sendtype out recvcount recvtype comm | sendcount*sendtype / buf recvcount*recvtype
Allgatherv c i p | buf sendcount sendtype out recvcounts displs recvtype comm | sendcount*sendtype / buf recvcounts[me]*recvtype
Alltoall c i p | buf sendcount sendtype out recvcount recvtype comm | sendcount*sendtype / buf recvcount*recvtype
Alltoallv c i p | buf sendcounts displs sendtype out recvcounts displs recvtype comm | sendcounts[]*sendtype / buf recvcounts[]*recvtype
Alltoallw c i p | buf sendcounts displs sendtypes out recvcounts displs recvtypes comm | sendcounts[]*sendtypes / buf recvcounts[]*recvtypes
Neighbor_allgather c i p | buf sendcount sendtype out recvcount recvtype comm | sendcount*sendtype
Neighbor_allgatherv c i p | buf sendcount sendtype out recvcounts displs recvtype comm | sendcount*sendtype
Neighbor_alltoall c i p | buf sendcount sendtype out recvcount recvtype comm | sendcount*sendtype
Neighbor_alltoallv c i p | buf sendcounts displs sendtype out recvcounts displs recvtype comm | sendcounts[]*sendtype
Neighbor_alltoallw c i p | buf sendcounts addresses sendtypes out recvcounts addresses recvtypes comm | sendcounts[]*sendtypes
Put c r | buf sendcount sendtype target address recvcount recvtype win | sendcount*sendtype
Get c r | out sendcount sendtype target address recvcount recvtype win | sendcount*sendtype
Accumulate c r | buf sendcount sendtype target address recvcount recvtype op win | sendcount*sendtype
Get_accumulate c r | buf sendcount sendtype out outcount outtype target address recvcount recvtype op win | outcount*outtype
Fetch_and_op | buf out type target address op win | 1*type
Compare_and_swap | buf buf out type target address win | 1*type
Win_fence | assert win |
Win_start | members assert win |
Win_complete | win |
Win_post | members assert win |
Win_wait | win |
Win_test | win flag |
Win_lock | assert target assert win |
Win_unlock | target win |
Win_lock_all | assert win |
Win_unlock_all | win |
Win_flush | target win |
Win_flush_all | win |
Win_flush_local | target win |
Win_flush_local_all | win |
Win_sync | win |
Win_create | out address unit info comm made_win |
Win_allocate | address unit info comm out made_win |
Win_allocate_shared | address unit info comm out made_win |
Win_create_dynamic | info comm made_win |
Win_free | ended_win |
Comm_dup | comm made_comm |
Comm_dup_with_info | comm info made_comm |
Comm_split | comm color key made_comm |
Comm_split_type | comm color key info made_comm |
Comm_create | comm members made_comm |
Comm_create_group | comm members key made_comm |
Cart_create | comm dimensions integers integers reorder made_comm |
Cart_sub | comm integers made_comm |
Graph_create | comm nodes integers integers reorder made_comm |
Dist_graph_create | comm nodes integers integers integers integers info reorder made_comm |
Dist_graph_create_adjacent | comm indegree integers integers outdegree integers integers info reorder made_comm |
Intercomm_merge | comm high made_comm |
Comm_idup | comm made_comm request |
Intercomm_create | comm leader peer_comm far_leader mark made_comm |
Comm_free | ended_comm |
Comm_spawn | path texts processes info root comm made_comm errors |
Comm_spawn_multiple | processes texts lists integers infos root comm made_comm errors |
Comm_accept | path info root comm made_comm |
Comm_connect | path info root comm made_comm |
Comm_disconnect | ended_comm |
File_open | comm path mode info made_file |
File_close | made_file |
File_set_view | file offset type type path info |
File_set_size | file offset |
File_sync | file |
File_read | file out count type status | count*type
File_read_all | file out count type status | count*type
File_read_at | file offset out count type status | count*type
File_read_at_all | file offset out count type status | count*type
File_read_shared | file out count type status | count*type
File_read_ordered | file out count type status | count*type
File_write | file buf count type status | count*type
File_write_all | file buf count type status | count*type
File_write_at | file offset buf count type status | count*type
File_write_at_all | file offset buf count type status | count*type
File_write_shared | file buf count type status | count*type
File_write_ordered | file buf count type status | count*type
Buffer_attach | out size |
Buffer_detach | out flag |
Reduce_local c | buf out count type op | count*type
File_iread | file out count type request | count*type
File_iread_at | file offset out count type request | count*type
File_iread_shared | file out count type request | count*type
File_iread_all | file out count type request | count*type
File_iread_at_all | file offset out count type request | count*type
File_read_all_begin | file out count type | count*type
File_read_all_end | file out status |
File_read_at_all_begin | file offset out count type | count*type
File_read_at_all_end | file out status |
File_read_ordered_begin | file out count type | count*type
File_read_ordered_end | file out status |
File_iwrite | file buf count type request | count*type
File_iwrite_at | file offset buf count type request | count*type
File_iwrite_shared | file buf count type request | count*type
File_iwrite_all | file buf count type request | count*type
File_iwrite_at_all | file offset buf count type request | count*type
File_write_all_begin | file buf count type | count*type
File_write_all_end | file buf status |
File_write_at_all_begin | file offset buf count type | count*type
File_write_at_all_end | file buf status |
File_write_ordered_begin | file buf count type | count*type
File_write_ordered_end | file buf status |
File_seek | file offset whence |
File_preallocate | file offset |
Pack | buf count type out size position peer_comm | count*type
Unpack | buf size position out count type peer_comm | count*type
Pready | partition open_request |
Pready_range | partition partition open_request |
Parrived | open_request partition flag |
Type_free | ended_type |
"""  # noqa: E501

TYPES = {
    "buf": "const void *",
    "out": "void *",
    "addresses": "const MPI_Aint *",
    "address": "MPI_Aint ",
    "comm": "MPI_Comm ",
    "peer_comm": "MPI_Comm ",
    "made_comm": "MPI_Comm *",
    "ended_comm": "MPI_Comm *",
    "win": "MPI_Win ",
    "ended_win": "MPI_Win *",
    "ended_type": "MPI_Datatype *",
    "members": "MPI_Group ",
    "op": "MPI_Op ",
    "info": "MPI_Info ",
    "message": "MPI_Message *",
    "status": "MPI_Status *",
    "request": "MPI_Request *",
    "open_request": "MPI_Request ",
    "flag": "int *",
    "position": "int *",
    "errors": "int *",
    "made_win": "MPI_Win *",
    "integers": "const int *",
    "file": "MPI_File ",
    "made_file": "MPI_File *",
    "offset": "MPI_Offset ",
    "path": "const char *",
    "texts": "char **",
    "lists": "char ***",
    "infos": "const MPI_Info *",
}
"""C types of parameters; counts, types and others follow from their names."""
PARTNERS = ("dest", "target", "source")
PROBES = {"Probe": "true", "Iprobe": "*flag"}
"""Calls whose time is that of the receive behind them, and whether its message is there."""
UNCOUNTED = {"Type_free"}
"""Calls that only end what is known of an object."""
HANDLES = {"comm": "Comm", "win": "Win", "request": "Request"}


class Wrapper(NamedTuple):
    """One call of MPI that gets a wrapper."""

    name: str
    """Without `MPI_`."""
    number: int
    """Of the kind: calls with large counts have that of the call without."""
    kind: str
    parameters: tuple[str, ...]
    amount: str
    large: bool
    persistent: bool


def list_wrappers() -> Iterator[Wrapper]:
    """Yield every call of the table and its variants."""
    number = 0
    for line in CALLS.strip().splitlines():
        head, parameters, amount = (part.strip() for part in line.split("|"))
        name, *variants = head.split()
        plain = tuple(parameters.split())
        rest = tuple(word for word in plain if word != "status")
        collective = "comm" in plain and not {"source", "dest"} & set(plain) and "made_comm" not in plain
        forms = [(name, plain, False)]
        if "i" in variants:
            forms.append((f"I{name.lower()}", (*rest, "request"), False))
        if "p" in variants:
            forms.append((f"{name}_init", (*rest, *(("info",) if collective else ()), "request"), True))
        if "r" in variants:
            forms.append((f"R{name.lower()}", (*plain, "request"), False))
        for form, words, persistent in forms:
            number += 1
            yield Wrapper(form, number, form, words, amount, large=False, persistent=persistent)
            if "c" in variants:
                yield Wrapper(f"{form}_c", number, form, words, amount, large=True, persistent=persistent)


def find_type(word: str, *, large: bool) -> str:
    """Return the C type of a parameter, with a blank or an asterisk at its end."""
    if word in TYPES:
        return TYPES[word]
    if word.endswith("counts"):
        return "const MPI_Count *" if large else "const int *"
    if word.endswith("count"):
        return "MPI_Count " if large else "int "
    if word == "displs":
        return "const MPI_Aint *" if large else "const int *"
    if word.endswith("types"):
        return "const MPI_Datatype *"
    return "MPI_Datatype " if word.endswith("type") else "int "


def number_words(words: tuple[str, ...]) -> list[str]:
    """Return names of parameters, each once: the second of a name gets a number."""
    return [f"{word}{words[:place].count(word) or ''}" for place, word in enumerate(words)]


def render_wrappers(declared: Collection[str], *, every_fortran: bool) -> str:
    """Return the C text of the wrappers of the calls that a library's header declares.

    Args:
        declared: with `MPI_`. A call that the library lacks must not seem to exist.
        every_fortran: whether no Fortran name reaches the C name. Otherwise those that have a choice buffer do, and the
            names of `mpif.h`.
    """
    parts = ['#include "recorder.h"\n']
    for wrapper in list_wrappers():
        if f"MPI_{wrapper.name}" not in declared:
            continue
        parts.append(render_c(wrapper))
        # Fortran passes the length of a text as a further argument.
        if wrapper.large or {"path", "texts"} & set(wrapper.parameters):
            continue
        if every_fortran:
            parts.append(render_fortran(wrapper, "_"))
        if every_fortran or not {"buf", "out"} & set(wrapper.parameters):
            parts.append(render_fortran(wrapper, "_f08_"))
    return "\n".join(parts)


def render_c(wrapper: Wrapper) -> str:
    """Return the wrapper of a C name."""
    names = number_words(wrapper.parameters)
    types = [find_type(word, large=wrapper.large) for word in wrapper.parameters]
    declared = ", ".join(f"{kind}{name}" for kind, name in zip(types, names, strict=True))
    body = "".join(f"    {line}\n" for line in describe(wrapper, "MPI_IN_PLACE", is_in_c=True))
    passed = ", ".join(names)
    look = ""
    if any_source := "true" if wrapper.name in PROBES else find_any_source(wrapper):
        look = f"    MPI_Status own, *const seen = {any_source} && status == MPI_STATUS_IGNORE ? &own : status;\n"
        passed = passed.replace("status", "seen")
    return f"""int MPI_{wrapper.name}({declared}) {{
    static int (*next)({declared});
    struct call call;
    if (!next)
        next = (int (*)({declared}))(intptr_t)find_next("MPI_{wrapper.name}");
{render_forget(wrapper, "")}    if (!enter_call(&call))
        return next({", ".join(names)});
{look}    const int answer = next({passed});
    leave_call(&call);
    if (answer != MPI_SUCCESS) {{
        skip_call(&call);
        return answer;
    }}
{body}    finish_call();
    return answer;
}}
"""


def render_fortran(wrapper: Wrapper, suffix: str) -> str:
    """Return the wrapper of a Fortran name: all its arguments are addresses, which it passes on."""
    name = f"mpi_{wrapper.name.lower()}{suffix}"
    names = [f"{word}_" for word in number_words(wrapper.parameters)] + ["error_"]
    declared = ", ".join(f"void *{word}" for word in names)
    body = "".join(f"    {line}\n" for line in [*convert(wrapper), *describe(wrapper, "library.in_place")])
    return f"""void {name}({declared}) {{
    static void (*next)({declared});
    struct call call;
    if (!next)
        next = (void (*)({declared}))(intptr_t)find_next("{name}");
{render_forget(wrapper, "_")}    if (!enter_call(&call)) {{
        next({", ".join(names)});
        return;
    }}
    next({", ".join(names)});
    leave_call(&call);
    if (error_ && *(MPI_Fint *)error_ != MPI_SUCCESS) {{
        skip_call(&call);
        return;
    }}
{body}    finish_call();
}}
"""


def render_forget(wrapper: Wrapper, suffix: str) -> str:
    """Return the statement before a call that ends an object: its handle may be given to another one."""
    ended = next((word for word in wrapper.parameters if word.startswith("ended_")), "")
    if not ended:
        return ""
    what = {"ended_comm": "communicator", "ended_win": "window", "ended_type": "type"}[ended]
    handle = {"ended_comm": "Comm", "ended_win": "Win", "ended_type": "Type"}[ended]
    value = f"TO_C({handle}, *(MPI_Fint *){ended}{suffix})" if suffix else f"*{ended}"
    return f"    if (recording)\n        forget_{what}((uintptr_t){value});\n"


def convert(wrapper: Wrapper) -> Iterator[str]:
    """Yield what makes C variables of those arguments of Fortran that `describe` uses."""
    used = set(re.findall(r"\w+", " ".join(describe(wrapper, ""))))
    for word, name in zip(wrapper.parameters, number_words(wrapper.parameters), strict=True):
        kind = find_type(word, large=False)
        if name not in used or word.startswith("ended_"):
            continue
        if word == "made_comm":
            yield "MPI_Comm new_comm = TO_C(Comm, *(MPI_Fint *)made_comm_), *const made_comm = &new_comm;"
        elif word in {"comm", "win"}:
            yield f"const {kind}{word} = TO_C({HANDLES[word]}, *(MPI_Fint *){word}_);"
        elif word == "request":
            yield "MPI_Request made_request = TO_C(Request, *(MPI_Fint *)request_), *const request = &made_request;"
        elif word.endswith("types"):
            yield f"const MPI_Fint *const {word} = {word}_;"
        elif word.endswith("type"):
            yield f"const MPI_Datatype {word} = TO_C(Type, *(MPI_Fint *){word}_);"
        elif kind.endswith("*"):
            yield f"{kind}const {word} = {word}_;"
        else:
            yield f"const int {name} = *(MPI_Fint *){name}_;"


def describe(wrapper: Wrapper, in_place: str, *, is_in_c: bool = False) -> Iterator[str]:
    """Yield the statements that say what a call was, behind it."""
    if wrapper.name in UNCOUNTED:
        return
    find = f'find_kind(&call, {wrapper.number}, "MPI_{wrapper.kind}", false)'
    if is_short(wrapper):
        yield "static struct memory memories[MEMORIES];"
        yield f"const struct arguments given = {{{list_arguments(wrapper)}}};"
        yield "struct memory *const memory = &memories[choose_memory(&given)];"
        yield "struct kind *kind = recall(memory, &given, &call);"
        yield "if (!kind) {"
        yield from (f"    {line}" for line in find_features(wrapper, in_place))
        yield f"    kind = {find};"
        yield "    remember(memory, &given, &call, kind);"
        yield "}"
    else:
        yield from find_features(wrapper, in_place)
        yield f"struct kind *const kind = {find};"
    yield "count_call(kind, &call);"
    if is_collective(wrapper) and not wrapper.persistent:
        yield "call.group->sequence++;"
    yield from follow(wrapper, is_in_c=is_in_c)


def follow(wrapper: Wrapper, *, is_in_c: bool) -> Iterator[str]:
    """Yield the statements that note what a call begins or completes: requests, messages, communicators, an arrival."""
    words = wrapper.parameters
    ends = list(list_ends(wrapper, is_in_c=is_in_c))
    if wrapper.name in PROBES and is_in_c:
        yield f"note_probe(&call, seen, {PROBES[wrapper.name]});"
    if "request" in words:
        # One of two messages is completed with the request; where it also receives, neither is known to be the last.
        if any(word in words for word in PARTNERS):
            yield "if (call.peer != MPI_PROC_NULL)"
        end = f"find_channel({ends[0]})" if len(ends) == 1 else "(struct channel_end){0}"
        yield f"    track_request(kind, *request, &call, {'true' if wrapper.persistent else 'false'}, {end});"
        if len(ends) > 1:
            yield from (f"post_message(kind, &call, find_channel({end}), false, 0);" for end in ends)
    elif ends:
        yield from (f"post_complete(kind, &call, {end.replace('call.group, ', '')});" for end in ends)
    elif "message" in words:
        # Matched probes take a message before it is received.
        yield from ["call.group->has_wildcards = true;"] if "comm" in words else []
    elif "made_comm" in words:
        yield "meet_communicator(*made_comm);"
    elif is_collective(wrapper):
        yield "identify(comm, call.group);"
        yield "log_arrival(&call, kind);"


def find_any_source(wrapper: Wrapper) -> str:
    """Return the C expression for a receive from any source or tag whose status says which; empty: it has none."""
    names = number_words(wrapper.parameters)
    if not {"source", "status"} <= set(names) or "message" in names or "probe" in wrapper.name.lower():
        return ""
    tag = [name for name in names if name.startswith("tag")][-1]
    return f"receives_any(source, {tag})"


def list_ends(wrapper: Wrapper, *, is_in_c: bool) -> Iterator[str]:
    """Yield the ends of messages that a call posts, as C expressions.

    In C the status has source and tag of a receive from any.
    """
    names = number_words(wrapper.parameters)
    if "message" in names or "probe" in wrapper.name.lower():
        return
    tags = [name for name in names if name.startswith("tag")]
    for peer, tag in zip((name for name in names if name in {"dest", "source"}), tags, strict=True):
        sent = "true" if peer == "dest" else "false"
        any_source = find_any_source(wrapper) if is_in_c and peer == "source" else ""
        ends = (choose_status(any_source, "MPI_SOURCE", peer), choose_status(any_source, "MPI_TAG", tag))
        yield f"comm, call.group, {', '.join(ends)}, {sent}"


def choose_status(any_source: str, field: str, word: str) -> str:
    """Return the C expression for a source or tag: that of the status, if the call gave any."""
    return f"{any_source} ? seen->{field} : {word}" if any_source else word


def is_collective(wrapper: Wrapper) -> bool:
    """Return whether all ranks of a communicator make a call together, and it creates none."""
    words = set(wrapper.parameters)
    return "comm" in words and not words & {*PARTNERS, "made_comm"}


def is_short(wrapper: Wrapper) -> bool:
    """Return whether few arguments decide what a call is, so that an equal call is recognised by them."""
    return "/" not in wrapper.amount and "[" not in wrapper.amount


def list_arguments(wrapper: Wrapper) -> str:
    """Return the initialisers of `struct arguments`."""
    words = wrapper.parameters
    count, _, kind = wrapper.amount.partition("*")
    fields = {
        "group": next((f"(uintptr_t){word}" for word in ("comm", "win") if word in words), ""),
        "type": f"(uintptr_t){kind}" if kind else "",
        "count": count,
        "root": "root" if "root" in words else "NO_ROOT",
        "peer": next((word for word in PARTNERS if word in words), "NO_PEER"),
    }
    return ", ".join(f".{name} = {value}" for name, value in fields.items() if value)


def find_features(wrapper: Wrapper, in_place: str) -> Iterator[str]:
    """Yield the statements that find a call's communicator, root, partner and data."""
    words = wrapper.parameters
    if "comm" in words:
        yield "call.group = find_communicator(comm);"
    elif "win" in words:
        yield "call.group = find_window(win);"
    if "root" in words:
        yield "call.root = root;"
    partner = next((word for word in PARTNERS if word in words), "")
    if partner:
        yield f"call.peer = {partner};"
    if wrapper.amount and "root" in words:
        yield "if (has_data(&call)) {"
        yield from (f"    {line}" for line in add_amounts(wrapper, in_place))
        yield "}"
    elif wrapper.amount:
        yield from add_amounts(wrapper, in_place)
    if partner:
        yield "if (call.peer == MPI_PROC_NULL)"
        yield "    call.bytes = 0;"


def add_amounts(wrapper: Wrapper, in_place: str) -> Iterator[str]:
    """Yield the statements that add the data of a call."""
    amount, _, otherwise = (part.strip() for part in wrapper.amount.partition("/"))
    neighbours = "true" if "eighbor" in wrapper.name else "false"
    if otherwise:
        buffer, otherwise = otherwise.split()
        name = buffer if in_place == "MPI_IN_PLACE" else f"{buffer}_"
        yield f"if ({name} == {in_place}) {{"
        yield from add_amount(otherwise, neighbours, fortran=in_place != "MPI_IN_PLACE")
        yield "} else {"
        yield from add_amount(amount, neighbours, fortran=in_place != "MPI_IN_PLACE")
        yield "}"
    else:
        yield from add_amount(amount, neighbours, fortran=in_place != "MPI_IN_PLACE")


def add_amount(amount: str, neighbours: str, *, fortran: bool) -> Iterator[str]:
    """Yield the statements for one product of a number and a type."""
    count, kind = amount.split("*")
    if count.endswith("[me]"):
        yield f"add_data(&call, {count.removesuffix('[me]')}[call.group->rank], {kind});"
    elif count.endswith("[]"):
        word = f"{kind}[i]" if kind.endswith("types") else kind
        word = f"TO_C(Type, {word})" if fortran and kind.endswith("types") else word
        yield f"const int partners = count_partners(comm, call.group, {neighbours});"
        yield "for (int i = 0; i < partners; i++)"
        yield f"    add_data(&call, {count.removesuffix('[]')}[i], {word});"
        yield "call.bytes = partners ? (call.bytes + (unsigned)partners / 2) / (unsigned)partners : 0;"
    else:
        yield f"add_data(&call, {count}, {kind});"
