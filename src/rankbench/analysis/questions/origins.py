"""Where the libraries of a campaign come from: an answer on wheels is none on builds for production."""

from __future__ import annotations

from collections.abc import Sequence

from rankbench.language import NOTHING, Text, say
from rankbench.model import Campaign, Library


def describe_origins(campaign: Campaign) -> Text:
    """Return a line with the origin of each library; nothing of results that were imported."""
    libraries = {library.name: library for library in campaign.libraries}
    names: dict[str, list[str]] = {}
    for candidate in campaign.candidates:
        if not candidate.control_of and candidate.library in libraries:
            names.setdefault(candidate.library, []).append(candidate.name)
    if campaign.imported or not names:
        return NOTHING
    if all(libraries[name].source == "pypi" for name in names):
        return say("Libraries: wheels from PyPI; builds for production may have more.")
    return say(
        "Libraries: {parts:;}.",
        parts=[_describe_origin(libraries[name], candidates) for name, candidates in names.items()],
    )


def _describe_origin(library: Library, candidates: Sequence[str]) -> Text:
    """Return the name of a library and its source, by that source's own name where it has one.

    A candidate with a name of its own is named first, and the name of its library without the part of the prefix.
    """
    modules = library.origin.get("modules", "")
    source = {
        "pypi": say("wheel from PyPI"),
        "system": say("system package"),
        "spack": say("Spack"),
        "modules": say("module {modules}", modules=modules) if modules else say("module"),
    }.get(library.source, say("{prefix}", prefix=library.prefix) if library.prefix else say("own build"))
    if any(name.startswith(library.name) for name in candidates):
        return say("{name} ({source})", name=library.name, source=source)
    version = library.name.partition("@")[0]
    return say("{names:and}: {version} ({source})", names=list(candidates), version=version, source=source)
