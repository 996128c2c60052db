"""Rows, the form a problem is solved in, and the one eigendecomposition behind everything."""
