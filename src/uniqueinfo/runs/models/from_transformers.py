"""Networks of transformers, by name or from a folder: `transformers:distilbert-base-uncased`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError
from uniqueinfo.runs.models.library import library, loaded
from uniqueinfo.runs.models.source import TextSource

if TYPE_CHECKING:
    from torch import nn


_IGNORED = -100  # a token that does not count
_MOST = 512  # tokens of a text, where neither the network nor its tokenizer says how many it takes


class Transformers(TextSource):
    """Classifiers of pictures, or of texts by their own tokenizer; networks that write texts."""

    prefix = "transformers"
    words = "transformers:NAME"
    place = 4
    pixels = 224
    fresh_head = True

    def build(self, argument: str, outputs: int, pretrained: bool, shape: tuple[int, ...]) -> nn.Module:
        """Inputs of three axes are pictures, others are tokens."""
        auto = library("transformers")
        task = auto.AutoModelForImageClassification if len(shape) == 3 else auto.AutoModelForSequenceClassification

        def load() -> Any:
            if pretrained:
                return task.from_pretrained(argument, num_labels=outputs, ignore_mismatched_sizes=True)
            return task.from_config(auto.AutoConfig.from_pretrained(argument, num_labels=outputs))

        network: nn.Module = loaded(argument, load)
        return network

    def writer(self, argument: str, pretrained: bool) -> nn.Module:
        """With a decoder alone, or with an encoder too, as its config says."""
        auto = library("transformers")

        def load() -> Any:
            config = auto.AutoConfig.from_pretrained(argument)
            task = auto.AutoModelForSeq2SeqLM if config.is_encoder_decoder else auto.AutoModelForCausalLM
            return task.from_pretrained(argument) if pretrained else task.from_config(config)

        network: nn.Module = loaded(argument, load)
        return network

    def written(
        self, argument: str, texts: list[str], after: list[str] | None
    ) -> tuple[dict[str, Any], NDArray[Any] | None]:
        """Cut to what the network takes; a text that comes after another is cut at its end."""
        auto = library("transformers")
        config = loaded(argument, lambda: auto.AutoConfig.from_pretrained(argument))
        tokenizer = loaded(argument, lambda: auto.AutoTokenizer.from_pretrained(argument))
        most = min(getattr(config, "max_position_embeddings", None) or _MOST, tokenizer.model_max_length)
        first = [each[:most] for each in tokenizer(texts)["input_ids"]]
        if config.is_encoder_decoder:
            if after is None:
                raise InputError(
                    "--label: this network writes one text from another; name the column of what it writes"
                )
            said = [each[:most] for each in tokenizer(text_target=after)["input_ids"]]
            return _padded(first), _padded(said, _IGNORED)["input_ids"]
        if after is None:
            return _padded(first), None
        added = list(tokenizer(after, add_special_tokens=False)["input_ids"])
        whole = [(one + two)[:most] for one, two in zip(first, added, strict=True)]
        counted = [([_IGNORED] * len(one) + two)[:most] for one, two in zip(first, added, strict=True)]
        return _padded(whole), _padded(counted, _IGNORED)["input_ids"]

    def tokens(self, argument: str, texts: list[str]) -> dict[str, Any]:
        """By the tokenizer that lies with the network."""
        auto = library("transformers")
        tokenizer = loaded(argument, lambda: auto.AutoTokenizer.from_pretrained(argument))
        found = tokenizer(texts, padding=True, truncation=True, return_tensors="np")
        return {name: found[name] for name in ("input_ids", "attention_mask")}


def _padded(tokens: list[list[int]], filler: int = 0) -> dict[str, NDArray[Any]]:
    """Sequences of one length, and which of their places are filled.

    >>> _padded([[5, 6], [7]])["attention_mask"].tolist()
    [[1, 1], [1, 0]]
    """
    length = max(len(each) for each in tokens)
    filled = np.array([[place < len(each) for place in range(length)] for each in tokens], dtype=np.int64)
    found = np.array([each + [filler] * (length - len(each)) for each in tokens], dtype=np.int64)
    return {"input_ids": found, "attention_mask": filled}


SOURCES = (Transformers(),)
