"""Decisions in the formats of other tools: a new one is a new file here that says ``FORMATS = (Format(…),)``."""
