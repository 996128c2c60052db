"""The public names come when they are asked for."""

import pytest

import uniqueinfo


def test_every_public_name_is_there() -> None:
    assert all(getattr(uniqueinfo, name) is not None for name in uniqueinfo.__all__)
    assert set(uniqueinfo.__all__) <= set(dir(uniqueinfo))


def test_any_other_name_is_not() -> None:
    with pytest.raises(AttributeError, match="'nonsense'"):
        _ = uniqueinfo.nonsense  # type: ignore[attr-defined]
