"""Photos without a model of the user's: pretrained networks at hand, and what they see."""
