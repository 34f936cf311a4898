"""A sandbox in which something was done already: done once in a process, put back for each test.

It is always in the same place, as git and Siding write absolute paths down. So a process has one at
a time of each kind, and what a test left there is gone when the next one begins. What is put back
is what the real commands made, but for inode numbers (see `faults.copies.adopt`) and for the time:
ids are those of the test before, and the work is as old as the first test that asked for it.
"""

import atexit
import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path

from faults.copies import adopt, copy_tree, remove_tree
from sandbox import Sandbox
from scratch import scratch

_TRIES = 10


def prepared(work: Callable[..., object], *words: str) -> Sandbox:
    """Return a sandbox as `work` leaves it, which gets a new one and the words."""
    name = repr((work.__module__, work.__qualname__, words))
    place = _directory() / hashlib.sha256(name.encode()).hexdigest()[:12]  # says no word of a test
    case, template = place / "case", place / "template"
    if template.exists():
        _put_back(template, case)
        adopt(case, "siding")
        return Sandbox(case)
    remove_tree(case)
    case.mkdir(parents=True)
    sandbox = Sandbox(case)
    work(sandbox, *words)
    copy_tree(case, template)
    return sandbox


def _put_back(template: Path, case: Path) -> None:
    """Copy the template to the place of the case. What still writes there makes no part of it."""
    fresh = template.with_name("fresh")
    copy_tree(template, fresh)
    for tries_left in reversed(range(_TRIES)):
        remove_tree(case)
        try:
            fresh.rename(case)
        except OSError:  # something was written there meanwhile
            if not tries_left:
                raise
        else:
            return


@cache
def _directory() -> Path:
    directory = scratch("siding-prepared-")
    atexit.register(directory.cleanup)
    return Path(directory.name).resolve()
