"""The board and the inbox."""
