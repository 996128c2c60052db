"""Where the map-reduce runs: this process, or Dask.

partitions of samples → (JᵀJ, Jᵀr) → summed by a tree → eigenvectors → partitions of samples → scores, part by part
"""

from uniqueinfo.engine.cluster import DaskEngine
from uniqueinfo.engine.engine import Engine, LocalEngine, as_engine

__all__ = ["DaskEngine", "Engine", "LocalEngine", "as_engine"]
