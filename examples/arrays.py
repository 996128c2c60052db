"""Arrays, also larger than memory: features in .npy files, scores in a folder, in parts."""

from pathlib import Path
from tempfile import mkdtemp

import numpy as np
from sklearn.datasets import load_digits

import uniqueinfo as ui

X, y = load_digits(return_X_y=True)
folder = Path(mkdtemp())
for name, array in {"X": X[:1400] / 16, "y": y[:1400], "X_val": X[1400:] / 16, "y_val": y[1400:]}.items():
    np.save(folder / f"{name}.npy", array)

paths = [folder / f"{name}.npy" for name in ("X", "y", "X_val", "y_val")]
scores = ui.score_features(*paths, training=ui.Converged(weight_decay=1e-3), memory="1GB", out=folder / "run")
print(f"{len(scores):,} samples")
print(f"mean information {scores.functional.mean():.3g}, the largest {scores.functional.max():.3g}")
print("In the folder:", *sorted(path.name for path in (folder / "run").iterdir()))
again = ui.load(folder / "run")
print(f"Opened again, the same: {np.array_equal(again.functional, scores.functional)}")
