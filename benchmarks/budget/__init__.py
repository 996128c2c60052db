"""What a score costs, as ratios within one run: beside busy processes, against the least algebra, after removals."""
