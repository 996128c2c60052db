"""Texts → sentence embeddings, by a model of the transformers library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uniqueinfo.errors import InputError, cause
from uniqueinfo.progress import progress

_BATCH = 32


def embed(name: str, texts: list[str]) -> NDArray[np.float32]:
    """The mean of the last hidden states over each text's tokens, scaled to length 1; `name`: a model or its folder."""
    import torch  # takes seconds, and most files are read without

    try:
        from transformers import AutoModel, AutoTokenizer
    except ImportError as missing:
        raise InputError("--embed needs the transformers library: pip install 'uniqueinfo[transformers]'") from missing
    try:
        tokenizer, model = AutoTokenizer.from_pretrained(name), AutoModel.from_pretrained(name).eval()
    except Exception as error:  # of any kind, from a folder that holds something else
        raise InputError(
            f"--embed {name}: no such model can be loaded ({cause(error)}); name a folder that holds one"
        ) from error
    found = []
    with torch.inference_mode(), progress("Embedding texts", len(texts), unit="texts") as advance:
        for start in range(0, len(texts), _BATCH):
            some = texts[start : start + _BATCH]
            tokens = tokenizer(some, padding=True, truncation=True, return_tensors="pt")
            states = model(**tokens).last_hidden_state
            mask = tokens["attention_mask"][..., None].to(states.dtype)
            mean = (states * mask).sum(dim=1) / mask.sum(dim=1)
            found.append(torch.nn.functional.normalize(mean).float().numpy())
            advance(len(some))
    return np.concatenate(found)
