"""Leave out samples or groups."""
