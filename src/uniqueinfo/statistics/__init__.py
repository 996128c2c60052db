"""Figures with intervals: bootstraps and correlations."""
