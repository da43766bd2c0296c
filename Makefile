# Everything happens inside this folder: the environment in .venv, libraries and builds in .rankbench.

PYTHON ?= python3
export RANKBENCH_HOME ?= $(CURDIR)/.rankbench
C_FILES = $(shell find core recorder tests/fakes -name '*.[ch]')

PARTS = test-commands test-more-commands test-verdicts test-units test-more-units test-others
.PHONY: demo quick check test test-all $(PARTS) prove reference docs lint clean

demo: .venv/ready
	.venv/bin/rankbench get mpich openmpi intel-mpi
	.venv/bin/rankbench run --preset demo
	.venv/bin/rankbench report results/demo
	@echo "Open results/demo/report.html in a browser. Values in the terminal: .venv/bin/rankbench show"

# After each change: the fast unit tests that need no MPI library, in less than a minute.
QUICK = test_core_sources.py test_quantities.py test_rooms.py test_units.py across plan profiles samples statistics foreign
quick: .venv/ready
	.venv/bin/pytest -q -m "not thorough" --numprocesses 2 --dist loadfile $(addprefix tests/unit/,$(QUICK))

# Is the code right? Nothing that is judged depends on how busy the machine is. Tests that launch ranks run one after the other; the
# others take little more than the processor time that these and the installation leave, in a session of their own, since Linux shares
# processors among sessions first. What is marked thorough shows more of the same: `make test-all` runs it too. The system's packages
# are installed beside the environment and the libraries: all wait for the network.
test: export WHICH = -m "not thorough"
test test-all:
	tools/system-packages & packages=$$!; failed=0; \
	make --no-print-directory .venv/ready || { wait $$packages; exit 2; }; \
	.venv/bin/rankbench get mpich openmpi intel-mpi & libraries=$$!; \
	setsid sh -c 'echo 19 2>/dev/null >/proc/self/autogroup; exec nice -n 19 "$$0" "$$@"' make --no-print-directory \
		--jobs 3 --keep-going --output-sync=target check $(PARTS) >.venv/others.log 2>&1 & others=$$!; trap "kill -- -$$others" INT TERM; \
	wait $$libraries || failed=1; \
	wait $$packages || failed=1; \
	.venv/bin/pytest $(WHICH) tests/mpi tests/cluster || failed=1; \
	echo 0 2>/dev/null >/proc/$$others/autogroup || true; \
	wait $$others || failed=1; \
	cat .venv/others.log; \
	exit $$failed

# Processes that each collect their own tests, three at a time, since many of them wait: pytest-xdist collects all of them in each of
# its processes, which takes as long as most.
VERDICTS = $(addprefix tests/unit/,campaign claims questions statistics)
MORE = $(addprefix tests/unit/,imports launch libraries plots report store tuning workflows)
PYTEST = .venv/bin/pytest $(WHICH) --timeout 900
test-commands:
	$(PYTEST) tests/unit/cli/test_[a-o]*.py

test-more-commands:
	$(PYTEST) tests/unit/cli/test_[p-z]*.py

test-verdicts:
	$(PYTEST) $(VERDICTS)

test-units:
	$(PYTEST) $(addprefix --ignore ,$(WORDS) tests/unit/cli $(VERDICTS) $(MORE)) tests/unit

test-more-units:
	$(PYTEST) $(MORE)

test-others:
	$(PYTEST) tests/property tests/recorded tests/browser

# What is known before any test runs: formats, types and words. `make lint` corrects the formats.
WORDS = tests/unit/test_words.py
check: .venv/ready
	@(.venv/bin/ruff check && .venv/bin/ruff format --check && .venv/bin/clang-format --dry-run --Werror $(C_FILES) && \
		.venv/bin/mypy && .venv/bin/pytest -q -o addopts= $(WORDS)) || \
		{ echo "format, types or words: correct what is reported above; make lint corrects formats, make check shows the rest"; exit 1; }

# Is what is measured true, here and now? All claims of docs/evidence, or one: make prove CLAIM=hand-loop
# A proof that cannot decide ends after 150 s, or after as many as are given: make prove BUDGET=30
prove: .venv/ready
	tools/system-packages
	BUDGET=$(BUDGET) .venv/bin/pytest --timeout 1800 tests/proofs$(if $(CLAIM),/test_$(subst -,_,$(CLAIM)).py)

.venv/ready: requirements.lock pyproject.toml tools/environment
	tools/environment $(PYTHON)
	touch $@

# All that is generated: what the core says of itself, pages of reference, the schema of exports, the README's answer.
reference: .venv/ready
	.venv/bin/rankbench get mpich
	.venv/bin/rankbench doctor mpich
	$$(ls -t $$RANKBENCH_HOME/builds/*/rankbench-core | head -1) --describe >tests/fakes/description.json
	.venv/bin/python tools/reference.py
	.venv/bin/python tools/readme-answer

# The documentation as pages for a browser: site/index.html. A broken link is an error.
docs: .venv/ready
	.venv/bin/python tools/reference.py
	NO_MKDOCS_2_WARNING=1 .venv/bin/mkdocs build --strict

lint: .venv/ready
	.venv/bin/ruff check --fix
	.venv/bin/ruff format
	.venv/bin/clang-format -i $(C_FILES)
	.venv/bin/mypy

clean:
	rm -rf .venv .rankbench results/demo site
