"""Suites of benchmarks: the benchmarks that each has, and the meaning of their numbers."""
