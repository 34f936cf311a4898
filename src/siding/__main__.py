"""``python -m siding``."""

import sys

from siding.cli.main import main

sys.exit(main())
