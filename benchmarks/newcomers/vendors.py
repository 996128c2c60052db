"""A CSV file as people have them: empty cells, dates, ids, and a vendor whose labels are random."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from benchmarks.newcomers.story import Setting, Shell, Story, Told

_BAD = "delta"


def vendors(setting: Setting) -> Iterator[Told]:
    """The vendor is to be named by `compare`; every row is to be in the export."""
    count = 200 if setting.small else 800
    table = _table(count)
    shell, file, run = Shell(setting), setting.work / "orders.csv", setting.work / "run"
    table.to_csv(file, index=False)
    shell("score", file, "--label", "grade", "--extra", "vendor", "--fill", "median", "--out", run)
    answer = shell.json("compare", run, "--by", "vendor")
    sentence = answer["sentence"]
    named = f"Samples of {_BAD} carry the most" in sentence and "contradicted" in sentence
    suspects = shell.json("mislabeled", run, "--export", setting.work / "clean.csv")
    exported = pd.read_csv(setting.work / "clean.csv")
    right = table["grade"] == _grade(table)
    by_id = dict(zip(table["id"].astype(str), right, strict=True))
    accused = sum(by_id[str(row["id"])] for row in suspects["table"])
    missed = [] if named else [f"{_BAD} is not named: {sentence}"]
    missed += ["rows are missing in the export"] if len(exported) != count else []
    missed += [f"columns are missing: {sorted({*table} - {*exported})}"] if not {*table} <= {*exported} else []
    yield Told(
        f"a table of {count} rows with empty cells, dates and ids",
        shell.commands,
        shell.seconds,
        1,
        int(named),
        accused,
        withheld="learnt too little" in suspects["sentence"],
        figures=f"{int((~right).sum())} labels are wrong, {len(suspects['table'])} suspects",
        missed=tuple(missed),
    )


def _table(count: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "id": [f"order-{number:05}" for number in rng.permutation(count)],
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, count), unit="D"),
            "weight": rng.normal(10, 3, count),
            "length": rng.normal(50, 10, count),
            "colour": rng.choice(["red", "green", "blue"], count),
            "vendor": rng.choice(["alpha", "beta", "gamma", _BAD], count),
        }
    )
    table["grade"] = _grade(table)
    bad = table["vendor"] == _BAD
    table.loc[bad, "grade"] = rng.choice(["first", "second"], int(bad.sum()))
    for name in ("weight", "length"):  # after the labels: what is not known now was known once
        table.loc[rng.choice(count, count // 20, replace=False), name] = np.nan
    return table


def _grade(table: pd.DataFrame) -> np.ndarray:
    """What the grade depends on; a cell that is empty counts as average."""
    weight, length = (table["weight"].fillna(10) - 10) / 3, (table["length"].fillna(50) - 50) / 10
    return np.where(weight + length + (table["colour"] == "red") > 0.3, "first", "second")


STORY = Story("vendors", vendors)
