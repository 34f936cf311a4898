"""A page of help and a usage error load what the parser of the verb needs, and nothing it does."""

import json
import subprocess
import sys
from collections.abc import Iterable

import pytest

from siding.agents.settings import SETTINGS
from siding.applying.plan import Mode
from siding.assistant.loop.model import Effort
from siding.faces.cli import integrating as integrate
from siding.faces.cli import usage
from siding.faces.cli.applying import apply as apply_verb
from siding.faces.cli.assistant import flags
from siding.faces.cli.running import run as run_verb
from siding.faces.cli.sessions import options as session_options
from siding.faces.cli.workflows import race
from siding.record.place import settings
from siding.sessions import lookup
from siding.usage import report
from siding.workflows.acts import views as race_act
from unit.verb_imports import places

MOST = 60  # modules of ours

# In one process: the parsers of all verbs, and what was loaded for them.
SCRIPT = """
import json, sys
from argparse import ArgumentParser
from siding.faces.cli import edge, globals, help, main
from siding.faces.cli.table import load, module_of
start = set(sys.modules)
places = json.loads(sys.argv[1])
for place in places:
    load(place).add_arguments(ArgumentParser(formatter_class=help.HelpPage))
ours = {name for name in sys.modules if name.startswith("siding")}
verbs = {module_of(place) for place in places}
print(json.dumps([sorted(ours - verbs), sorted(set(sys.modules) - start - ours)]))
"""


def test_the_parsers_of_all_verbs_together_load_no_act() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            SCRIPT,
            json.dumps(places()),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    ours, others = json.loads(done.stdout)
    packages = [name for name in ours if name.count(".") == 3 and ".cli." in name]
    assert len(ours) - len(packages) < MOST, f"a verb imports some of these at its top: {ours}"
    assert others == ["_datetime", "datetime", "gc", "math"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (apply_verb.MODES, Mode),
        (flags.EFFORTS, Effort),
        (integrate.AGENTS, SETTINGS.agents),
        (race.CHOICES, race_act.CHOICES),
        (run_verb.JUDGE, settings.JUDGE),
        (run_verb.LEAVE, settings.LEAVE),
        (session_options.CLIENTS, lookup.CLIENTS),
        (usage.BY, report.BY),
    ],
)
def test_choices_of_a_verb_are_those_of_its_feature(
    said: Iterable[str], meant: Iterable[str]
) -> None:
    assert list(said) == [str(each) for each in meant]
