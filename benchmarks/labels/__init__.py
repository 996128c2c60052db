"""Wrong labels found by every criterion and every peer in the same run on the same features: `make bench-labels`."""
