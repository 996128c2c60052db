"""The public names come when they are asked for."""

import pytest

import uniqueinfo


def test_every_public_name_is_there() -> None:
    public: list[str] = vars(uniqueinfo).get("__all__") or uniqueinfo.__getattr__("__all__")
    named = set(public) - {"__version__"}
    assert {name: getattr(uniqueinfo, name).__name__ for name in named} == {name: name for name in named}
    assert set(public) <= set(dir(uniqueinfo))


def test_any_other_name_is_not() -> None:
    with pytest.raises(AttributeError, match="'nonsense'"):
        _ = uniqueinfo.nonsense  # type: ignore[attr-defined]
