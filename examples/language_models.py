"""Language models: which texts made another text more likely? A tiny GPT-2 learns two languages."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

import uniqueinfo as ui

generator = torch.Generator().manual_seed(0)
start = torch.randint(0, 20, (60, 1), generator=generator)
step = torch.randint(1, 4, (60, 1), generator=generator)
words = (start + step * torch.arange(8)) % 10
texts = torch.where(torch.arange(60)[:, None] < 45, words, words + 10)  # the last 15 use ten other words

torch.manual_seed(0)
config = GPT2Config(vocab_size=20, n_positions=8, n_embd=16, n_layer=1, n_head=2, bos_token_id=None, eos_token_id=None)
model = GPT2LMHeadModel(config).eval()
train, val = {"input_ids": texts[:59]}, {"input_ids": texts[59:]}
training = ui.GradientDescent(lr=0.3, steps=100, loss="logistic")
scores = ui.score(model, train, val, training=training)  # one number stands for a text: ui.sequence_margin
found = ui.attribute(scores, 0, top=6)
print(found.sentence)
helping = found.frame()["id"]
own = int((helping >= 45).sum())
print(f"Of the six texts that moved this one most, {own} are in its language, as 14 of all 59 are.")
