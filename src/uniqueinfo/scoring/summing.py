"""Sums over partitions, taken by a session; those of whole groups may have been kept by a run that was killed."""

from __future__ import annotations

from collections.abc import Sequence

from uniqueinfo.scoring.engine import Session
from uniqueinfo.scoring.pieces import Name, Piece, groups, shown, sum_of
from uniqueinfo.scoring.work import Work
from uniqueinfo.spectrum.sums import Sums, tree


def sums_over(session: Session, work: Work, name: Name, pieces: Sequence[Piece]) -> Sums:
    """Over all pieces of the training or validation samples."""
    wanted = groups(len(pieces))
    held: dict[int, Sums] = {}
    missing = {}
    for number, group in enumerate(wanted):
        if work.sums(name, number) is None:
            missing[number] = [pieces[at] for at in group]
    counts = {number: sum(map(len, parts)) for number, parts in missing.items()}
    for number, sums in shown("Products of the rows", session.sums(sum_of, None, missing), counts):
        if work.folder is None:
            held[number] = sums
        else:
            work.keep_sums(name, number, sums)
            del sums  # read again below, a few at a time

    def leaf(number: int) -> Sums:
        found = held.pop(number, None) or work.sums(name, number)
        assert found is not None
        return found

    return tree(range(len(wanted)), leaf, Sums.__iadd__)
