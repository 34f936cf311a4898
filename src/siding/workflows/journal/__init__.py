"""The journal of a run: every answered call, on disk before its result reaches the script."""
