"""``python -m siding``."""

import sys

from siding.faces.cli.main import main

sys.exit(main())
