"""Hugging Face: a data set and the Trainer. What was really trained is recorded by a callback, and then followed."""

from tempfile import mkdtemp

import torch
from datasets import Dataset
from transformers import BertConfig, BertForSequenceClassification, PrinterCallback, Trainer, TrainingArguments

import uniqueinfo as ui

generator = torch.Generator().manual_seed(0)
tokens = torch.randint(2, 40, (160, 8), generator=generator)
labels = (tokens[:, 0] > 20).long()  # the first word tells
table = Dataset.from_dict({"input_ids": tokens.tolist(), "labels": labels.tolist()}).with_format("torch")
train, val = table.select(range(80)), table.select(range(80, 160))

torch.manual_seed(0)
config = BertConfig(
    vocab_size=40, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
)  # fmt: skip
folder = mkdtemp()
arguments = TrainingArguments(
    f"{folder}/trainer", num_train_epochs=3, per_device_train_batch_size=16, learning_rate=1e-2, report_to=[],
    save_strategy="no", logging_strategy="no", disable_tqdm=True, use_cpu=True,
)  # fmt: skip
recording = ui.RecordingCallback(f"{folder}/recording")
trainer = Trainer(BertForSequenceClassification(config), arguments, train_dataset=train, callbacks=[recording])
trainer.remove_callback(PrinterCallback)
trainer.train()

scores = ui.score(trainer.model, train, val, training=ui.Recorded(f"{folder}/recording"))
print(f"{len(scores)} samples along the recorded training")
most = scores.frame()[["id", "label", "functional", "kl", "value"]].nlargest(3, "kl")
print(most.to_string(index=False, float_format="%.2g"))
told = scores.to_dataset(train, prefix="info_")  # the data set, with scores as columns
print(told.column_names)
