"""What to label next: accuracy per label of `ui.acquire` beside entropy, margin, k-center and random."""
