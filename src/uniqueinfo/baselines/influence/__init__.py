"""Influence functions: what removing a sample does to first order, through the inverse of the loss's Hessian."""

from uniqueinfo.baselines.influence.curvature import Kind
from uniqueinfo.baselines.influence.influence import Influence, influence
from uniqueinfo.baselines.influence.solvers import ConjugateGradients, Exact, LiSSA, Solver

__all__ = ["ConjugateGradients", "Exact", "Influence", "Kind", "LiSSA", "Solver", "influence"]
