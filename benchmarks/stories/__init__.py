"""A language model fine-tuned on 2,000 passages: which of them made it write a sentence?"""
