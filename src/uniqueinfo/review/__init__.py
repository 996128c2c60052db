"""Decide on suspects: decisions kept line by line, a queue that follows them, a page that asks, data sets cleaned."""
