"""Tests on emulated nodes. A package, so that its conftest has a unique module name."""
