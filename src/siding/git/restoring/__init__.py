"""A workspace brought back to a snapshot; what no snapshot holds is never destroyed."""
