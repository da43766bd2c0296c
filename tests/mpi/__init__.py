"""Tests with real MPI libraries. A package, so that its conftest has a name of its own."""
