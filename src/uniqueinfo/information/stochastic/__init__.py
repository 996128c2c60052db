"""Unique information of really stochastic training, from many runs of it."""

from uniqueinfo.information.stochastic.divergence import (
    gaussian_divergence,
    knn_divergence,
    mixture_divergence,
    mixture_information,
)
from uniqueinfo.information.stochastic.training import ExpectedInformation, StochasticInformation, StochasticTraining

__all__ = [
    "ExpectedInformation",
    "StochasticInformation",
    "StochasticTraining",
    "gaussian_divergence",
    "knn_divergence",
    "mixture_divergence",
    "mixture_information",
]
