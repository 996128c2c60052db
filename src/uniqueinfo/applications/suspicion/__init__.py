"""How probable it is that each label is wrong, from what models trained without the sample say about it.

evidence → opinions: several models are asked about every sample, each trained on all the others;
opinions → stack and noise: their weights and the labels' errors are found together, from the given labels alone;
label_errors: the face for people with features; `mislabeled` asks the same of scores.
"""
