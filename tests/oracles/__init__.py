"""Truths by brute force, written to be read and not to be quick; tests take theirs from here alone.

- `compare`: arrays that may be missing, equal to a tolerance.
- `influence`: influence functions from the definition, with the whole Hessian; what weight changes do to outputs.
- `jacobian`: rows by `jacrev`, gradients of single losses by autograd, a linear head's rows written out.
- `loop`: gradient descent on a linear model, step by step, by PyTorch's SGD.
- `retraining`: the linearization trained again without samples, through singular values or from its Hessian.
- `sgd`: a network trained again without samples, by the loop that a PyTorch user writes.
- `steadystate`: covariances of SGD's steady state, solved densely; information and divergences under them.
"""
