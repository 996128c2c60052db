"""What the number of classes costs: one row for each output, one for each sample, a margin, mixtures; against exact."""
