"""Pictures of every odd kind become upright 8-bit RGB, or are named."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from tests.runs.readers import files
from uniqueinfo.errors import InputError
from uniqueinfo.runs.readers import Reading, read
from uniqueinfo.runs.readers.images import open_picture


def _saved(path: Path, image: Image.Image, **options: object) -> NDArray[np.uint8]:
    image.save(path, **options)  # type: ignore[arg-type]
    picture = open_picture(path)
    assert picture.mode == "RGB"
    return np.asarray(picture)


def test_labels_are_the_names_of_the_folders(tmp_path: Path) -> None:
    data = read(files.pictures(tmp_path / "p", each=2), Reading(size=8))
    assert data.labels is not None
    assert data.labels.tolist() == ["dark", "dark", "light", "light"]
    assert data.ids.tolist() == ["dark/0.jpg", "dark/1.jpg", "light/0.jpg", "light/1.jpg"]
    assert data.inputs[0].shape == data.inputs.shape[1:] == (3, 8, 8)


def test_a_flat_folder_has_no_labels(tmp_path: Path) -> None:
    data = read(files.pictures(tmp_path / "p") / "dark", Reading(), labelled=False)
    assert data.labels is None
    assert len(data) == 4


def test_where_labels_are_left_aside_the_folders_are_a_column(tmp_path: Path) -> None:
    data = read(files.pictures(tmp_path / "p", each=1), Reading(unlabelled=True), labelled=False)
    assert data.labels is None
    assert data.columns is not None
    assert data.columns["label"].tolist() == ["dark", "light"]


def test_cmyk_becomes_rgb(tmp_path: Path) -> None:
    found = _saved(tmp_path / "a.jpg", Image.new("CMYK", (4, 4), (0, 255, 255, 0)))
    assert found[0, 0, 0] > 200
    assert found[0, 0, 1:].max() < 60


def test_exif_rotation_is_applied(tmp_path: Path) -> None:
    image = Image.new("RGB", (6, 2))
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    assert _saved(tmp_path / "a.jpg", image, exif=exif).shape == (6, 2, 3)


def test_sixteen_bits_keep_their_scale(tmp_path: Path) -> None:
    levels = np.array([[0, 32896, 65535]], dtype=np.uint16)
    assert _saved(tmp_path / "a.png", Image.fromarray(levels))[0, :, 0].tolist() == [0, 128, 255]


def test_of_an_animation_the_first_frame_is_taken(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (4, 4), colour) for colour in ("red", "blue")]
    found = _saved(tmp_path / "a.gif", frames[0], save_all=True, append_images=frames[1:])
    assert found[0, 0].tolist() == [255, 0, 0]


def test_what_is_transparent_is_white(tmp_path: Path) -> None:
    assert _saved(tmp_path / "a.png", Image.new("RGBA", (4, 4), (0, 0, 0, 0)))[0, 0].tolist() == [255, 255, 255]


def test_a_picture_of_one_pixel_is_scaled_up(tmp_path: Path) -> None:
    folder = files.pictures(tmp_path / "p")
    Image.new("RGB", (1, 1), "white").save(folder / "light" / "tiny.png")
    data = read(folder, Reading(size=8))
    pixels = cast("NDArray[np.float32]", data.inputs[len(data) - 1])
    assert pixels.shape == (3, 8, 8)
    assert np.ptp(pixels, axis=(1, 2)).max() == 0


def test_broken_files_are_left_out_if_asked(tmp_path: Path) -> None:
    folder = files.pictures(tmp_path / "p")
    (folder / "dark" / "1.jpg").write_bytes(b"")
    data = read(folder, Reading(skip_broken=True))
    assert "dark/1.jpg" not in data.ids
    assert len(data) == len(data.inputs) == 7
    assert "1.jpg" in data.notes[0]


def test_a_folder_of_nothing_but_broken_files_is_refused(tmp_path: Path) -> None:
    folder = files.pictures(tmp_path / "p", each=1)
    for path in folder.rglob("*.jpg"):
        path.write_bytes(b"")
    with pytest.raises(InputError, match="none of the 2 pictures"):
        read(folder, Reading(skip_broken=True))
