"""Options that benchmarks share."""

from __future__ import annotations

import argparse
from pathlib import Path


def small_and_json(about: str | None, small: str, json: str) -> argparse.Namespace:
    """`--small`, for less than all of it, and `--json`, where the figures go; both with what the user gave."""
    options = argparse.ArgumentParser(description=about)
    options.add_argument("--small", action="store_true", help=small)
    options.add_argument("--json", type=Path, default=Path(json), help=f"where the figures go ({json})")
    return options.parse_args()
