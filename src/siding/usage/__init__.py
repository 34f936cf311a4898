"""What agents used of their models: tokens and dollars, by whatever they are asked by."""
