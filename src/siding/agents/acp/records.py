"""Read what a person has prompted, in the records that agents keep as JSON lines."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from siding.agents.talking.port import Hold
from siding.ground.storage.fields import mappings, text

_MOST = 256 << 20  # bytes of a record


def home_of(hold: Hold) -> Path:
    """Return the home of the run that the agent was held in."""
    return Path(hold.env.get("HOME", "~")).expanduser()


def lines_of(path: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a file; a line that is torn is passed over. Raises OSError."""
    if path.stat().st_size > _MOST:
        raise OSError("it is too large to be read")
    for line in path.read_bytes().splitlines():
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found


def text_of(parts: object) -> str:
    """Return the text in the parts of a message."""
    if isinstance(parts, str):
        return parts
    return "\n".join(text(each["text"]) for each in mappings(parts) if "text" in each)
