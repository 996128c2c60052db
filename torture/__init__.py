"""Attacks on the whole: odd inputs, crashes, flipped bits, lost workers, ill-conditioned numbers.

Every case ends in one of three ways, or is a defect: the right answer; a refusal that names the input and the remedy;
a run that is gone on with. ``python -m torture`` runs them and writes docs/reliability.md.
"""
