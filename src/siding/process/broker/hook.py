"""An agent that runs since before an update starts this program, which has moved."""

import os
import sys

_SIDING = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, os.pardir)
_PROGRAM = os.path.join(_SIDING, "ground", "process", "broker", "hook.py")

if __name__ == "__main__":
    os.execv(sys.executable, [sys.executable, "-S", "-E", "-I", _PROGRAM, *sys.argv[1:]])
