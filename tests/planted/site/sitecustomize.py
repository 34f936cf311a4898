"""Loaded by Python itself at the start of a victim: makes the mistake that the test asked for.

Only the tests put this directory on a child's PYTHONPATH. See `planted`.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
try:
    from planted import plant_in_child
finally:
    sys.path.pop()

plant_in_child()
