"""The same in cleanlab's Datalab: an issue manager of its own name, beside cleanlab's "label".

import uniqueinfo.applications.suspicion.datalab          # registers it; pip install 'uniqueinfo[cleanlab]'
lab = Datalab({"X": X, "y": y}, label_name="y")
lab.find_issues(issue_types={"uniqueinfo_label": {"features": X}})
lab.get_issues("uniqueinfo_label")                        # is_…_issue, …_score, given_label, predicted_label
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pandas as pd

from uniqueinfo.applications.suspicion.label_errors import LabelErrors
from uniqueinfo.errors import InputError

try:
    from cleanlab.datalab.internal.issue_manager import IssueManager
    from cleanlab.datalab.internal.issue_manager_factory import register
except ImportError as missing:
    raise InputError("Datalab needs cleanlab: pip install 'uniqueinfo[cleanlab]'") from missing


class UniqueinfoLabel(IssueManager):  # type: ignore[misc]
    """Labels that models trained without the sample contradict."""

    description: ClassVar[str] = (
        "Labels that models trained without the sample contradict, by the calibrated probability that each is right."
    )
    issue_name: ClassVar[str] = "uniqueinfo_label"

    def __init__(self, datalab: Any, features: Any = None, precision: float | None = None, seed: int = 0, **_: Any):
        super().__init__(datalab)
        self._features, self._judge = features, LabelErrors(precision=precision, seed=seed)

    def find_issues(self, features: Any = None, **_: Any) -> None:
        """Judge all labels of the Datalab by features (n, p)."""
        seen = self._features if features is None else features
        if seen is None:
            raise InputError(
                'uniqueinfo_label: needs features; find_issues(issue_types={"uniqueinfo_label": {"features": X}})'
            )
        numbers = np.asarray(self.datalab.labels)
        names = self.datalab._label_map
        found = self._judge.fit(seen, numbers)
        table = found.issues_.reset_index(drop=True)
        self.issues = pd.DataFrame(
            {f"is_{self.issue_name}_issue": table["is_label_issue"], self.issue_score_key: table["label_score"]}
        )
        self.summary = self.make_summary(score=float(table["label_score"].mean()))
        given, predicted = (
            [names.get(number, number) for number in table[column].tolist()] if names else table[column].tolist()
            for column in ("given_label", "predicted_label")
        )
        self.info = {
            "given_label": given,
            "predicted_label": predicted,
            "count": found.count_.value,
            "count_interval": (found.count_.low, found.count_.high),
            "sentence": found.sentence,
        }


register(UniqueinfoLabel)
