"""Ask a person on the terminal for a yes."""

import sys


def can_ask() -> bool:
    """Tell whether there is a terminal on both sides: somebody who reads and types."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def agreed(question: str) -> bool:
    """Ask, and tell whether the answer is yes. Anything else, and no answer, is no."""
    sys.stderr.write(f"siding: {question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")
