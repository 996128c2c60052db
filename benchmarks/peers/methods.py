"""Who is compared: each package's own score per training sample, the quickest of its documented ways on a processor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """One line of the table; `function` takes a `Problem`, in the environment of its package."""

    package: str
    function: str
    title: str
    score: str
    """What its number says of a sample."""
    note: str = ""
    """How it differs from the question asked, or from its documented setting."""
    module: str = ""
    """Where the function is; by itself the module of the package's name here."""
    trained: bool = True
    """Whether it looks at the network after training (or on its way), which somebody has to train."""

    networks: bool = False
    """Whether it is for networks alone: a linear head has the same gradients all along."""

    @property
    def key(self) -> str:
        return f"{self.package}-{self.function}"

    @property
    def target(self) -> str:
        return f"{self.module or f'benchmarks.peers.{self.package}'}:{self.function}"


OURS = "ours"
LOSS = "loss"

METHODS = (
    Method(
        OURS,
        "left_out",
        "uniqueinfo",
        "change of predictions and of validation loss without the sample",
        "the network linearized where its training starts; exact for a linear head",
        trained=False,
    ),
    Method(
        OURS,
        "both_ends",
        "uniqueinfo, both ends",
        "change of predictions and of validation loss without the sample",
        "linearized before and after training alike, `score(trained=...)`",
        networks=True,
    ),
    Method(LOSS, "training_loss", "training loss", "loss of the sample after training", "no leaving out at all"),
    Method(
        "cleanlab",
        "label_quality",
        "cleanlab label quality",
        "how little the label fits, by 5-fold logistic regression",
        "another model, and no leaving out",
        trained=False,
    ),
    Method(
        "captum",
        "tracin_fast_self",
        "captum TracInCPFast, self",
        "self-influence over 10 checkpoints",
        "the last layer alone",
    ),
    Method(
        "captum",
        "tracin_fast_total",
        "captum TracInCPFast, total",
        "influence on the validation loss over 10 checkpoints",
        "the last layer alone",
    ),
    Method(
        "dattri",
        "conjugate_gradients",
        "dattri influence, CG",
        "influence on the validation loss",
        "10 steps, its default; damping 1/(rate · steps)",
    ),
    Method(
        "dattri",
        "trak",
        "dattri TRAK-1",
        "mean square of the influence on validation outputs",
        "one network, 128 columns",
    ),
    Method(
        "dattri",
        "knn_shapley",
        "dattri KNN-Shapley",
        "share in the accuracy of 5 nearest neighbours",
        "another model",
        trained=False,
    ),
    Method(
        "pydvl",
        "knn_shapley",
        "pyDVL KNN-Shapley",
        "share in the accuracy of 5 nearest neighbours",
        "another model",
        trained=False,
    ),
    Method(
        "pydvl",
        "nystroem",
        "pyDVL Nyström influence",
        "mean square of the influence on validation losses",
        "rank 50; damping 1/(rate · steps)",
    ),
    Method(
        "traker",
        "trak",
        "traker TRAK-1",
        "mean square of the influence on validation outputs",
        "one network, 128 columns; its quick projection needs a GPU",
    ),
    Method("kronfluence", "self_influence", "kronfluence EK-FAC, self", "self-influence", "damping by its heuristic"),
    Method(
        "kronfluence",
        "total",
        "kronfluence EK-FAC, total",
        "influence on the validation loss",
        "damping by its heuristic",
    ),
    Method(
        "kronfluence",
        "on_outputs",
        "kronfluence EK-FAC, outputs",
        "mean square of the influence on validation outputs",
        "damping by its heuristic; for one output",
    ),
    Method(
        "captum", "arnoldi_self", "captum Arnoldi, self", "self-influence", "its defaults: 200 steps, 50 directions"
    ),
)
"""The quick ones first."""

REQUIREMENTS: dict[str, tuple[str, ...]] = {
    "captum": ("captum==0.9.0",),
    "cleanlab": ("cleanlab==2.9.0",),
    "dattri": ("dattri==0.3.0", "requests==2.34.2"),  # which dattri imports and does not ask for
    "kronfluence": ("kronfluence==1.0.1",),
    "pydvl": ("pydvl[influence]==0.10.0",),
    "traker": ("traker==0.3.2",),
}
"""What goes into each peer's environment; what is not named here runs in this one."""
