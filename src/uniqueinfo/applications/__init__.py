"""Questions scores answer: each takes Scores and gives a table with `.frame()` and `.plot()`."""

from uniqueinfo.applications.mislabeled import Mislabeled, mislabeled

__all__ = ["Mislabeled", "mislabeled"]
