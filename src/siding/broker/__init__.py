"""The broker of a run: it answers what the run's own processes may ask, from any sandbox."""
