"""Print events as `agents.headless.output` reads them."""

import json
import sys
from typing import Any


def emit(event: str, **fields: Any) -> None:
    """Print one event; fields that are None are left out."""
    said = {name: value for name, value in fields.items() if value is not None}
    sys.stdout.write(json.dumps({"event": event, **said}) + "\n")
    sys.stdout.flush()
