"""docs/reliability.md from what the attacks found."""

from __future__ import annotations

from collections.abc import Sequence

from torture.outcome import Ending, Tally
from uniqueinfo.experiments.markdown import quoted

WHAT = {
    "inputs": "odd files and options on the command line",
    "commands": "odd options of every other command, on a finished run",
    "calls": "odd arguments of Python functions",
    "crashes": "kills before, after and while a file is written",
    "flips": "one bit flipped in any file of a run",
    "workers": "workers of a cluster killed at any moment",
    "numerics": "problems against arithmetic of 60 digits",
}


def written(tallies: Sequence[Tally]) -> str:
    """The page."""
    seeds = sorted({tally.seed for tally in tallies})
    lines = [
        "# Reliability",
        "",
        *_quoted(tallies).splitlines(),
        "",
        "What happens when things go wrong, counted. `make torture` generates these cases anew from a seed, runs them",
        "and writes this page; a small part of them is in `make test`. A case has to end in one of three ways: with",
        "the right answer; refused, with a sentence that names the input and the remedy; or gone on with, to the same",
        "bytes. All else is a defect: a raw error, a number that is none, a row that went without a word, a call that",
        "hangs.",
        "",
        f"Seeds: {', '.join(map(str, seeds))}.",
        "",
        "| attack | cases | right answer | refused | resumed | defects |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, what in WHAT.items():
        mine = [tally for tally in tallies if tally.attack == name]
        if not mine:
            continue
        counts = {ending: sum(tally.counts.get(str(ending), 0) for tally in mine) for ending in Ending}
        cells = [counts[ending] for ending in (Ending.right, Ending.refused, Ending.resumed, Ending.defect)]
        lines.append(f"| {what} | {sum(counts.values()):,} | " + " | ".join(f"{cell:,}" for cell in cells) + " |")
    defects = [found for tally in tallies for found in tally.defects]
    lines += ["", "## Defects", "", *_listed(defects)]
    lines += ["", "One case again: `python -m torture --seeds SEED --only ATTACK --from NUMBER --to NUMBER`.", ""]
    return "\n".join(lines)


def _quoted(tallies: Sequence[Tally]) -> str:
    counts = {ending: sum(tally.counts.get(str(ending), 0) for tally in tallies) for ending in Ending}
    return quoted(
        f"Of {sum(counts.values()):,} generated cases of what can go wrong, {counts[Ending.defect]:,} ended in a "
        "defect.",
        f"{counts[Ending.right]:,} gave the right answer, {counts[Ending.refused]:,} were refused with a sentence that "
        f"names the input and the remedy, and {counts[Ending.resumed]:,} went on to the same bytes.",
        "Anyone can generate them anew, or others, by `make torture`.",
    )


def _listed(defects: list[dict[str, str]]) -> list[str]:
    if not defects:
        return ["None in these cases."]
    told = (f"- {found['case']}: {found['told'].splitlines()[-1] if found['told'] else ''}" for found in defects)
    return [line.replace("|", "\\|")[:300] for line in told]
