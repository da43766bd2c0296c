"""Where the libraries of a campaign come from: an answer on wheels is none on builds for production."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankbench.language import NOTHING, Text, say

if TYPE_CHECKING:
    from rankbench.model import Campaign, Library


def describe_origins(campaign: Campaign) -> Text:
    """Return a line with the origin of each library; nothing of results that were imported."""
    libraries = {library.name: library for library in campaign.libraries}
    candidates = [candidate for candidate in campaign.candidates if not candidate.control_of]
    used = [
        libraries[name] for name in dict.fromkeys(candidate.library for candidate in candidates) if name in libraries
    ]
    if campaign.imported or not used:
        return NOTHING
    if all(library.source == "pypi" for library in used):
        return say("Libraries: wheels from PyPI; builds for production may have more.")
    return say("Libraries: {parts:;}.", parts=[_describe_origin(library) for library in used])


def _describe_origin(library: Library) -> Text:
    """Return the name of a library and its source, by that source's own name where it has one."""
    modules = library.origin.get("modules", "")
    source = {
        "pypi": say("wheel from PyPI"),
        "system": say("system package"),
        "spack": say("Spack"),
        "modules": say("module {modules}", modules=modules) if modules else say("module"),
    }.get(library.source, say("{prefix}", prefix=library.prefix) if library.prefix else say("own build"))
    return say("{name} ({source})", name=library.name, source=source)
