"""Measurements: ratios within one run, never bare seconds, as machines are noisy."""
