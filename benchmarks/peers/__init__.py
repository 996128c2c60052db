"""A score per training sample: ours beside those of other packages, on the same network and data.

``python -m benchmarks.peers --data DIR --out DIR`` writes everything into the second folder, and a page from it.
"""
