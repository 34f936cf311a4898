"""The places of the terminal: each is a screen of its own, and knows no other."""
