"""Networks of transformers, by name or from a folder: `transformers:distilbert-base-uncased`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from uniqueinfo.runs.models.library import library, loaded
from uniqueinfo.runs.models.source import TextSource

if TYPE_CHECKING:
    from torch import nn


class Transformers(TextSource):
    """Classifiers of pictures, or of texts by their own tokenizer."""

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

    def tokens(self, argument: str, texts: list[str]) -> dict[str, Any]:
        """By the tokenizer that lies with the network."""
        auto = library("transformers")
        tokenizer = loaded(argument, lambda: auto.AutoTokenizer.from_pretrained(argument))
        found = tokenizer(texts, padding=True, truncation=True, return_tensors="np")
        return {name: found[name] for name in ("input_ids", "attention_mask")}


SOURCES = (Transformers(),)
