"""Layer rules: the gradient of a layer's own parameters from what went in and the gradient of what came out.

Each rule is exact and knows one kind of layer in evaluation mode. A new one is a new module of this package that says
``RULES = (Rule(…),)``.
"""

from uniqueinfo.jacobian.rules.rule import Rule, find_rule, has_hooks, rules, widen

__all__ = ["Rule", "find_rule", "has_hooks", "rules", "widen"]
