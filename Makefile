# For a fresh machine: `make demo`, `make explore` and `make test`. Each sets up all it needs.
# What is installed, and what is compiled: docs/install.md.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
HAS_CHROMIUM := { command -v chromium && command -v chromedriver; } >/dev/null

.PHONY: dist test-lowest docs reports demo explore test test-slow test-browser test-ray test-slurm torture mutants check clean

demo: $(INSTALLED)
	$(BIN)/python examples/demo.py

explore: $(INSTALLED)
	$(BIN)/tpr-rnn explore

# The tests of the explorer's page need a Chromium with its driver; without one they are skipped.
# One thread a process, for the two processes have two cores; a file stays in one of them, so that
# what its tests share is made once.
test: check
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow"
	@$(HAS_CHROMIUM) || echo "No Chromium here: the tests of the explorer's page were skipped." \
	  "'make test-browser' installs one where it may."

# What `make test` leaves out: torch.compile and torch.export, several processes, many wide stories.
test-slow: $(INSTALLED)
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow

# The tests of the page alone; installs a Chromium from Debian's packages if that is allowed.
test-browser: $(INSTALLED)
	$(HAS_CHROMIUM) || { timeout 120 apt-get update -qq && \
	  timeout 300 apt-get install --yes --no-install-recommends chromium chromium-driver fonts-dejavu-core; } || \
	  echo "A Chromium can't be installed here; the tests of the explorer's page are skipped."
	$(BIN)/python -m pytest -rs tests/explorer/test_browser*.py tests/explorer/test_accessibility.py

# Sweeps on Ray clusters of this machine, with lost nodes; installs Ray.
test-ray: $(INSTALLED)
	$(PIP) --editable '.[ray]' || \
	  echo "Ray can't be installed here; its tests are skipped."
	$(BIN)/python -m pytest -rs tests/experiments/test_ray.py

# Sweeps on a SLURM of one node, which is started for them; installs SLURM and munge if it may.
HAS_SLURM := { command -v slurmctld && command -v slurmd && command -v munged; } >/dev/null
test-slurm: $(INSTALLED)
	$(PIP) --editable '.[slurm]' || \
	  echo "submitit can't be installed here; the tests of SLURM are skipped."
	$(HAS_SLURM) || { timeout 120 apt-get update -qq && \
	  timeout 300 apt-get install --yes --no-install-recommends slurm-wlm munge; } || \
	  echo "SLURM can't be installed here; its tests are skipped."
	$(BIN)/python -m pytest -rs tests/experiments/test_slurm.py

# Kills, full disks, damaged files: what does it take to lose a run? Some minutes.
torture: $(INSTALLED)
	OMP_NUM_THREADS=1 nice $(BIN)/python -m benchmarks.torture

# How many small faults the tests notice: 150 at random, in about half an hour; SAMPLE=N for more.
SAMPLE ?= 150
mutants: $(INSTALLED)
	nice $(BIN)/python -m benchmarks.mutants --sample $(SAMPLE)

# The documentation, in build/site/. It runs the tutorials; a broken link or a warning is an error.
docs: $(INSTALLED)
	$(PIP) --editable '.[docs]'
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/sphinx-build -W --keep-going -q -c docs -d build/doctrees . build/site
	@echo "Open build/site/index.html"

# A wheel with the kernels and an sdist, in dist/, and both tried in clean environments.
dist: $(INSTALLED)
	$(PIP) --editable '.[dist]'
	rm -rf dist build/wheel
	$(BIN)/python -m build --no-isolation --sdist
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=true $(BIN)/python -m build --no-isolation --wheel --outdir build/wheel
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel repair --exclude libtorch_cpu.so --wheel-dir dist build/wheel/*.whl
	$(BIN)/twine check --strict dist/*
	$(BIN)/python packaging/try_dist.py dist

# The tests with the oldest versions that pyproject.toml allows, in an environment of their own.
LOWEST := build/lowest
test-lowest:
	$(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --constraint constraints-lowest.txt --editable '.[dev]'
	OMP_NUM_THREADS=1 $(LOWEST)/bin/python -m pytest -n 2 --dist loadfile -m "not slow"

# The reports of all records, anew.
reports: $(INSTALLED)
	for file in results/records/*.jsonl; do \
	  $(BIN)/tpr-rnn report $$file --out results/reports/$$(basename $$file .jsonl) || exit 1; \
	done

# Style and types, without running anything.
check: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

$(INSTALLED): pyproject.toml constraints.txt
	@echo "Making a Python environment in $(VENV) ..."
	$(PYTHON) -m venv $(VENV)
	@echo "Installing tpr-rnn and what it needs there; PyTorch is the largest part. A minute or more ..."
	$(PIP) --progress-bar on --editable '.[dev]'
	touch $(INSTALLED)
	@echo "Installed. The C++ kernels are compiled on first use, once: half a minute, if there is a compiler."

clean:
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache .hypothesis
