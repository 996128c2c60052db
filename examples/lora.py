"""LoRA: only the adapters are trained, so only they are looked at; the rest of the network is as it came."""

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel

import uniqueinfo as ui

generator = torch.Generator().manual_seed(0)
start = torch.randint(0, 20, (60, 1), generator=generator)
step = torch.randint(1, 6, (60, 1), generator=generator)
texts = (start + step * torch.arange(8)) % 20

torch.manual_seed(0)
config = GPT2Config(vocab_size=20, n_positions=8, n_embd=16, n_layer=1, n_head=2, bos_token_id=None, eos_token_id=None)
base = GPT2LMHeadModel(config)
adapters = LoraConfig(r=4, target_modules=["c_attn"], fan_in_fan_out=True, init_lora_weights="gaussian")
model = get_peft_model(base, adapters).eval()
trained = sum(each.numel() for each in model.parameters() if each.requires_grad)

training = ui.GradientDescent(lr=0.1, steps=100, loss="logistic")
train, val = {"input_ids": texts[:50]}, {"input_ids": texts[50:]}
scores = ui.score(model, train, val, training=training, outputs=ui.sequence_margin)
print(f"{trained} of {sum(each.numel() for each in model.parameters())} parameters are trained")
print(scores.frame().nlargest(3, "functional").to_string(index=False, float_format="%.3g"))
