"""Where networks come from; each source is asked for its own by a name such as `mlp:1024`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from uniqueinfo.store.declared import declared

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import nn


class ModelSource(ABC):
    """A source of networks. It has no state; torch and other libraries are imported when a network is built."""

    prefix: ClassVar[str]
    """What the names of its networks begin with, before a colon; what follows is the argument."""
    words: ClassVar[str]
    """How a user is told of it: `mlp:WIDTH`."""
    place: ClassVar[int] = 5
    """Among the sources: the one of a lower place is told, and asked whether a name is its own, first."""
    pixels: ClassVar[int] = 64
    """A side of the pictures its networks are made for, where nobody says another."""
    fresh_head: ClassVar[bool] = False
    """Whether its networks come trained but for a last layer, whose random outputs say nothing of the task."""
    linear: ClassVar[bool] = False
    """Whether a linear head is all that is trained: on the inputs themselves, or on what a frozen network sees."""

    def argument(self, name: str) -> str | None:
        """What a name asks of this source; None if the name is not its own."""
        prefix, _, rest = name.partition(":")
        return rest if prefix == self.prefix and rest else None

    def check(self, argument: str) -> None:  # noqa: B027, as most have nothing to refuse
        """Refuse what cannot be had, before anything is computed."""

    @abstractmethod
    def build(self, argument: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
        """The network for inputs of this shape; fresh parameters are drawn from torch's own generator."""

    def frozen(self, argument: str) -> nn.Module | None:
        """The network whose features the head is trained on, where there is one; it takes inputs as they are read."""
        return None

    def files(self, argument: str) -> tuple[Path, ...]:
        """Files of the user that the network depends on."""
        return ()

    def code(self, argument: str) -> Path | None:
        """The file of the user's own code that building the network runs, if any."""
        return None

    def absolute(self, argument: str) -> str:
        """The name, good from any folder."""
        return f"{self.prefix}:{argument}" if argument else self.prefix


class TextSource(ModelSource):
    """A source whose networks read texts, by a tokenizer of their own."""

    @abstractmethod
    def tokens(self, argument: str, texts: list[str]) -> dict[str, Any]:
        """Texts as the network takes them, arrays by the names of its inputs, padded to one length."""

    @abstractmethod
    def writer(self, argument: str, pretrained: bool) -> nn.Module:
        """The network that writes texts."""

    @abstractmethod
    def written(
        self, argument: str, texts: list[str], after: list[str] | None
    ) -> tuple[dict[str, Any], NDArray[Any] | None]:
        """Texts for a network that writes: its inputs, padded to one length, and the tokens that count as targets.

        `after`: the text that comes after each; without it the texts count as a whole, and there are no targets.
        """


def sources() -> list[ModelSource]:
    """All there are, in their places.

    >>> [source.prefix for source in sources()][:3]
    ['linear', 'mlp', 'torchvision']
    """
    # mypy allows no abstract class where it could be called; here it is only asked about.
    found = declared("uniqueinfo.runs.models", "SOURCES", ModelSource)  # type: ignore[type-abstract]
    prefixes = [source.prefix for source in found]
    twice = {prefix for prefix in prefixes if prefixes.count(prefix) > 1}
    if twice:
        raise TypeError(f"{', '.join(sorted(twice))}: the prefix of two sources; rename one")
    return sorted(found, key=lambda source: source.place)
