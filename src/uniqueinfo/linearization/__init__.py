"""The face above rows, training and removal: Linearization, Trained, Removal."""
