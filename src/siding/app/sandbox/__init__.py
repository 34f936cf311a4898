"""The sandbox and the limits of a run: asked for, planned, put up."""
