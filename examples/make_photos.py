"""A folder of pictures to try things on: handwritten digits in class folders, one in twenty in a wrong one.

python examples/make_photos.py photos
"""

import sys
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "photos")
digits = load_digits()
rng = np.random.default_rng(0)
chosen = rng.permutation(len(digits.target))[:600]
given = digits.target[chosen].copy()
wrong = rng.permutation(len(chosen))[:30]
given[wrong] = (given[wrong] + rng.integers(1, 10, len(wrong))) % 10

for number, (picture, label) in enumerate(zip(digits.images[chosen], given, strict=True)):
    path = folder / str(label) / f"{number:03d}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray((picture * 255 / 16).astype(np.uint8)).resize((64, 64), Image.Resampling.BICUBIC).save(path)

truth = {f"{given[number]}/{number:03d}.png": str(digits.target[chosen[number]]) for number in wrong}
print(f"{len(chosen)} pictures in {folder}, {len(wrong)} of them in a wrong folder, such as {next(iter(truth))}")
