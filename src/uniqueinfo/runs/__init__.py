"""Runs of the command line: the job, its folder, readers of files, models by name, the page."""
