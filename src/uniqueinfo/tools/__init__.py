"""Other people's tools: what goes into their logs, and what their evaluations call."""
