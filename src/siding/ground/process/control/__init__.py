"""The control socket of a run: people outside it watch its terminal and type into it."""
