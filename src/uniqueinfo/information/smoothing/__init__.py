"""Smoothings of the weights: with which covariance Σ the weights are blurred before their information is counted."""

from uniqueinfo.information.smoothing.fixed import Fisher, Isotropic
from uniqueinfo.information.smoothing.gradients import gradient_covariance
from uniqueinfo.information.smoothing.smoothing import Smoothing
from uniqueinfo.information.smoothing.steady import SGD, Langevin

__all__ = ["SGD", "Fisher", "Isotropic", "Langevin", "Smoothing", "gradient_covariance"]
