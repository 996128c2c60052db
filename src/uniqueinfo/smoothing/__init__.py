"""Smoothings of the weights: with which covariance Σ the weights are blurred before their information is counted."""

from uniqueinfo.smoothing.fixed import Fisher, Isotropic
from uniqueinfo.smoothing.gradients import gradient_covariance
from uniqueinfo.smoothing.smoothing import Smoothing
from uniqueinfo.smoothing.steady import SGD, Langevin

__all__ = ["SGD", "Fisher", "Isotropic", "Langevin", "Smoothing", "gradient_covariance"]
