"""The heavy proofs, and the same cases for other ways to go back: `python3 run.py prove`."""
