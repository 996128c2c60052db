"""Files on disk: whole or not there, kept apart, and folders that belong to one piece of work."""
