"""What users hand over → samples by index, with ids, labels and targets; their order is kept, always."""
