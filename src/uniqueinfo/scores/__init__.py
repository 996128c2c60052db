"""The result table: one row per training sample, kept as Parquet and JSON."""
