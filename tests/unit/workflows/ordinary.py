"""What people write in a script without a thought; all of it works, and as in Python.

Each line of `ordinary.txt` is the body of an ``async def``; its ends of lines are ``\\n``. Besides
Python it uses `agent`, which answers ``done:<prompt>``.
"""

from pathlib import Path

_TEXT = Path(__file__).with_name("ordinary.txt").read_text("utf-8")
SNIPPETS = tuple(line.replace("\\n", "\n") for line in _TEXT.splitlines())
