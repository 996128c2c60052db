"""From arrays or a network to scores: one driver over partitions; engines: this process, Dask."""
