"""How many bytes of tensors were alive at once."""

import weakref
from collections.abc import Mapping
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Peak(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the tensors made inside the block: `bytes` is the most that were alive at the same time.

    Unlike the size of the process it is the same in every run, so that what is decided by it is too. Scratch
    space inside a kernel is not seen: leave a margin.

    >>> import torch
    >>> with Peak() as peak:
    ...     for _ in range(3):
    ...         last = torch.zeros(1000)
    >>> peak.bytes  # each is let go when the next is there
    8000
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes = 0
        self._alive: dict[int, int] = {}  # storage → its bytes
        self._total = 0

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # nothing is compiled here, and importing the compiler takes a second

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run the operation, then count the storages its results brought."""
        result = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, Tensor):
                storage = tensor.untyped_storage()
                if storage._cdata not in self._alive:
                    self._alive[storage._cdata] = storage.nbytes()
                    self._total += storage.nbytes()
                    weakref.finalize(storage, self._freed, storage._cdata)
        self.bytes = max(self.bytes, self._total)
        return result

    def _freed(self, storage: int) -> None:
        self._total -= self._alive.pop(storage)
