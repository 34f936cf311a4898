"""The numbers that a person has given to rows for good, in ``feed/slots.json`` of the home.

``{"version": 1, "slots": {"1": "KEY OF THE ROW"}}``. A file that cannot be read counts as empty:
nothing but these numbers is lost, and they can be given again.
"""

from collections.abc import Mapping
from pathlib import Path

from siding.ground.errors import SidingError
from siding.ground.files.durable import make_dirs
from siding.ground.storage.documents import read_document_or_none, write_document
from siding.ground.storage.fields import text
from siding.ground.storage.layout import Home

VERSION = 1
_WHAT = "numbers of rows"


def kept_slots(home: Home) -> dict[int, str]:
    """Return the key of the row of each number that was given for good."""
    try:
        document = read_document_or_none(_path(home), what=_WHAT, version=VERSION)
    except (SidingError, OSError):
        return {}
    found = (document or {}).get("slots")
    if not isinstance(found, dict):
        return {}
    return {int(n): text(key) for n, key in found.items() if n.isdecimal() and text(key)}


def keep_slots(home: Home, slots: Mapping[int, str]) -> None:
    """Write the numbers down."""
    path = _path(home)
    make_dirs(path.parent)
    written = {str(number): key for number, key in sorted(slots.items())}
    write_document(path, {"version": VERSION, "slots": written})


def _path(home: Home) -> Path:
    return home.feed_dir / "slots.json"
