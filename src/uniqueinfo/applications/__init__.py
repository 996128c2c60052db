"""Questions scores answer: each takes Scores and gives an Answer: a sentence, a table, a figure."""

from uniqueinfo.applications.adversarial import Adversarial, adversarial
from uniqueinfo.applications.answer import Answer, Gallery, Shown
from uniqueinfo.applications.attribute import Attribution, attribute
from uniqueinfo.applications.compare import Compared, compare
from uniqueinfo.applications.mislabeled import Mislabeled, mislabeled
from uniqueinfo.applications.redundancy import Redundancy, redundancy
from uniqueinfo.applications.shapley import Shapley, shapley
from uniqueinfo.applications.subclasses import Subclasses, subclasses
from uniqueinfo.applications.summarize import Kept, summarize

__all__ = [
    "Adversarial",
    "Answer",
    "Attribution",
    "Compared",
    "Gallery",
    "Kept",
    "Mislabeled",
    "Redundancy",
    "Shapley",
    "Shown",
    "Subclasses",
    "adversarial",
    "attribute",
    "compare",
    "mislabeled",
    "redundancy",
    "shapley",
    "subclasses",
    "summarize",
]
