"""What the program that searches without ripgrep is told."""

import json
import os
import sys
from pathlib import Path

from siding.git.command import Git
from siding.git.errors import GitError
from siding.git.listing import Listing, list_files
from siding.tools.place import Place
from siding.tools.search import child
from siding.tools.search.request import Request


def argv(request: Request, place: Place, scratch: Path) -> list[str]:
    """Return how it is started. Lists of files are made in `scratch`."""
    found = _listing(request, place, scratch)
    asked = {
        "directory": os.fspath(request.directory),
        "file": request.file,
        "listing": "" if found is None else os.fspath(found.listing),
        "ignored": "" if found is None else os.fspath(found.ignored),
        "prefix": "" if found is None else found.prefix,
        "names": request.names,
        "mode": request.mode.value,
        "pattern": request.pattern,
        "any_case": request.any_case,
        "multiline": request.multiline,
        "before": request.before,
        "after": request.after,
    }
    return [sys.executable, "-I", "-S", child.__file__, json.dumps(asked)]


def _listing(request: Request, place: Place, scratch: Path) -> Listing | None:
    """Return what git lists; None if all files are to be searched, as where there is no git."""
    if request.file or not request.ignores:
        return None
    try:
        return list_files(Git.find(place.env), request.directory, scratch)
    except (GitError, OSError):
        return None
