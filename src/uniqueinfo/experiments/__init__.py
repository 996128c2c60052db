"""The paper's tables and figures, with the networks and data readers that only they need."""
