"""MCA parameters, the settings of Open MPI and of libraries derived from it."""

from __future__ import annotations

from collections.abc import Mapping

VARIABLE = "OMPI_MCA_"
"""Begins the environment variables of parameters."""
VARIABLES = ("OMPI_", "PMIX_MCA_", "PRTE_MCA_", "OPAL_")
"""Prefixes of all environment variables that such a library takes as settings."""


def encode_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of settings: parameters are in lower case, other names are variables."""
    return {name if name[:1].isupper() else f"{VARIABLE}{name}": value for name, value in settings.items()}
