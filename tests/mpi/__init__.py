"""Tests with real MPI libraries. A package, so that its conftest has a unique module name."""
