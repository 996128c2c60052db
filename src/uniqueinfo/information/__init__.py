"""From changes to information: measures, effects, uncertainty, smoothing."""
