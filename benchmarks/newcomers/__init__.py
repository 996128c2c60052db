"""What a newcomer gets at the defaults: stories with planted facts, in one table.

``python -m benchmarks.newcomers --data DIR`` runs them all; ``--small`` in a size for tests, ``--only NAME`` one alone.

What is compared with, decided before any result was seen: features of scikit-learn's data sets are standardized by its
StandardScaler, and once taken as they come. Leave-one-out accuracy stands beside the 10-fold accuracy of
RidgeClassifierCV on the same inputs, leave-one-out R² beside that of RidgeCV, both with alpha from 1e-3 to 1e5 by
tens. A target is met within .01 of these. Of photos, at least 17 of 20 wrong labels are to be found, with no more than
5 right ones accused. Suspects are to be withheld where labels or weights are random, and nowhere else.
"""
