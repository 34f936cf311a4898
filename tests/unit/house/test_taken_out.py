"""Features at the top of the house can be taken out: the commands of every day do not miss them.

Who knows such a feature is named here, with what it is for. `tests/integration/test_taken_out.py`
takes the folders away and runs the rest; a row of `run.py prove` has it.
"""

import re
import subprocess
import sys
from pathlib import Path

SOURCE = Path(__file__).parents[3] / "src" / "siding"
# Of each feature: who imports it at the top of a module, beside its own verbs and pages.
KNOWN_BY: dict[str, dict[str, str]] = {
    "assistant": {"chat/always.py": "the rules of permissions, for asks of any agent"},
    "importing": {},
    "integrating": {},
    "upkeep": {},
    "workflows": {
        "broker/tools.py": "the guide, as a tool",
        "broker/workflows.py": "runs that an agent begins",
        "faces/tui/acts/workflows.py": "what may be done to a run, from the terminal",
        "faces/web/openapi.py": "what may be done to a run",
        "faces/web/rendering.py": "dollars and tokens in words",
        "feed/workflow_runs.py": "the runs that are at work",
        "upkeep/stores.py": "damaged runs",
    },
}
EVERY_DAY = ("", "run", "status", "log", "show", "diff", "undo", "rollback", "apply", "task")


def test_few_know_a_feature_at_the_top() -> None:
    at_top = re.compile(rf"^(?:from|import) siding\.({'|'.join(KNOWN_BY)})\b", re.MULTILINE)
    found: dict[str, set[str]] = {feature: set() for feature in KNOWN_BY}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        for feature in set(at_top.findall(path.read_text("utf-8"))):
            if not re.match(rf"(faces/\w+/)?{feature}[/.]", name):
                found[feature].add(name)
    assert found == {feature: set(known) for feature, known in KNOWN_BY.items()}


def test_the_commands_of_every_day_do_not_need_them() -> None:
    blocked = [f"siding.{feature}" for feature in KNOWN_BY]
    script = (
        f"import sys\nsys.modules |= dict.fromkeys({blocked!r})\n"
        "from siding.faces.cli.main import main\n"
        f"print([main([*words.split(), '--help']) for words in {EVERY_DAY!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == str([0] * len(EVERY_DAY))
