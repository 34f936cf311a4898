"""A victim that is forked makes the calls of one that is started: faults strike at the same places.

The gates of this directory fork theirs (see `victims`), but with SIDING_FAULTS=full.
"""

import re
from unittest.mock import patch

import pytest

from . import victims
from .acts import ACTS
from .commands import GATE
from .harness import changes

pytestmark = GATE


@pytest.mark.parametrize("name", ["init", "task update", "task switch", "doctor"])
def test_it_makes_the_calls_of_one_that_is_started(name: str) -> None:
    it = ACTS[name]
    victim = it.command()
    assert victims.words_of(victim.argv) == victims.Words(it.words, promise="done")
    forked = changes(it.setup, victim)
    with patch.object(victims, "FULL", new=True):
        started = changes(it.setup, victim)
    assert [_kind(call) for call in forked] == [_kind(call) for call in started]


def _kind(call: str) -> str:
    """The name of a call and where it works: what is below has names that are made up."""
    found = re.match(r"\w+\((\w+/)?", call)
    assert found is not None, call
    return found[0]
