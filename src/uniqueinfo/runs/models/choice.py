"""A network by its name, with where its weights come from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from uniqueinfo.errors import InputError
from uniqueinfo.runs.models.source import ModelSource, TextSource, sources
from uniqueinfo.runs.models.weights import fill, read_weights, say_fresh

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from torch import nn


@dataclass(frozen=True)
class ModelChoice:
    """A network by name, and where its weights come from."""

    name: str
    weights: Path | None = None
    """A .safetensors or .pth file of weights by name."""
    pretrained: bool = True
    """Whether networks of a library start from their published weights."""
    trained: Path | None = None
    """Weights of the same network after its training, in such a file."""
    centred: bool = False
    """Whether what the network gives before training is taken off its outputs."""
    generates: bool = False
    """Whether it is to write texts, rather than to say classes or numbers."""

    def __post_init__(self) -> None:
        source, argument = self._asked
        given = [option for option, path in self._named if path is not None]
        if source.linear and given:
            raise InputError(f"{given[0]}: a linear model starts from zero and takes no weights; drop the option")
        source.check(argument)
        if self.generates and not isinstance(source, TextSource):
            raise InputError(
                f"--model {self.name}: writes no texts, as --task generation needs; take transformers:NAME"
            )
        if self.generates and self.centred:
            raise InputError("--centred: a network that writes texts has no fresh last layer; drop it")
        if self.centred and self.trained is not None:
            raise InputError(
                "--centred, --trained: the trained network began with the outputs it had; drop one of the two"
            )
        for option, path in self._named:
            if path is not None and not path.is_file():
                raise InputError(f"{option} {path}: there is no such file; check the path")

    @property
    def pixels(self) -> int:
        """A side of the pictures the network is made for."""
        return self._asked[0].pixels

    @property
    def fresh_head(self) -> bool:
        """Whether the network comes trained but for its last layer."""
        return self._asked[0].fresh_head and self.pretrained and self.weights is None

    @property
    def linear(self) -> bool:
        """Whether a linear head is all that is trained."""
        return self._asked[0].linear

    def frozen(self) -> nn.Module | None:
        """The network, in eval mode, whose features a linear head is trained on; None where it is the inputs."""
        source, argument = self._asked
        found = source.frozen(argument)
        return None if found is None else found.eval()

    @property
    def reads_text(self) -> bool:
        """Whether texts go to the network's own tokenizer."""
        return isinstance(self._asked[0], TextSource)

    @property
    def files(self) -> tuple[Path, ...]:
        """Files the network depends on."""
        source, argument = self._asked
        return (*source.files(argument), *(path for _, path in self._named if path is not None))

    @property
    def code(self) -> Path | None:
        """The file of the user's own code that building the network runs, if any."""
        source, argument = self._asked
        return source.code(argument)

    @property
    def absolute(self) -> str:
        """The name, good from any folder."""
        source, argument = self._asked
        return source.absolute(argument)

    def build(self, shape: tuple[int, ...], outputs: int, seed: int) -> nn.Module:
        """The network for inputs of this shape, fresh parameters drawn from the seed."""
        import torch

        source, argument = self._asked
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            published = self.pretrained and self.weights is None
            if self.generates and isinstance(source, TextSource):
                network = source.writer(argument, published)
            else:
                network = source.build(argument, outputs, published, shape)
        if self.weights is not None:
            stored = read_weights(self.weights)
            say_fresh(fill(network, stored, str(self.weights)), stored, str(self.weights))
        if self.trained is not None:
            from uniqueinfo.jacobian.ends import BothEnds

            return BothEnds(network, read_weights(self.trained, "--trained"))
        if self.centred:
            from uniqueinfo.jacobian.centring import centred

            return centred(network)
        return network

    def tokens(self, texts: list[str]) -> dict[str, Any]:
        """Texts as the network's tokenizer gives them, padded to one length."""
        source, argument = self._asked
        if not isinstance(source, TextSource):
            raise InputError(f"--model {self.name}: reads no texts; have them embedded with --embed")
        return source.tokens(argument, texts)

    def written(self, texts: list[str], after: list[str] | None) -> tuple[dict[str, Any], NDArray[Any] | None]:
        """Texts for a network that writes: see `TextSource`."""
        source, argument = self._asked
        assert isinstance(source, TextSource)
        return source.written(argument, texts, after)

    @property
    def _named(self) -> tuple[tuple[str, Path | None], ...]:
        return ("--weights", self.weights), ("--trained", self.trained)

    @property
    def _asked(self) -> tuple[ModelSource, str]:
        """The source whose name this is, and what it is asked for."""
        for source in sources():
            argument = source.argument(self.name)
            if argument is not None:
                return source, argument
        raise InputError(f"--model {self.name}: unknown; give {kinds()}")


def kinds() -> str:
    """The names there are, as a user is told.

    >>> kinds()  # doctest: +ELLIPSIS
    'linear, mlp:WIDTH, torchvision:NAME, timm:NAME, transformers:NAME... or file.py:function'
    """
    *others, last = (source.words for source in sources())
    return f"{', '.join(others)} or {last}"
