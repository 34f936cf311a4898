"""What is counted in the files: sizes, parameters, names of agents, kinds of steps."""

from pathlib import Path

import pytest
from tools.house.agents import agent_tables, files_naming, files_using
from tools.house.counts import folder_lines, folder_sizes, named_by_verb, parameters, small
from tools.house.goals import beyond
from tools.house.graph import graph_of
from tools.house.lists import unused
from tools.house.loaded import Functions, Loaded, case_of
from tools.house.steps import step_classes, step_use
from tools.house.table import budget_text, times_text
from tools.house.times import BARE, Time

from unit.house.packages import package


def test_sizes_parameters_and_names(tmp_path: Path) -> None:
    house = package(
        tmp_path,
        {
            "ground/files.py": "x = 1\n" * 60,
            "record/task_reading.py": "def f(project, /, *, other): pass\nlambda project: 1\n",
            "recorder.py": "class A:\n    async def f(self, *, project=None, projects=()): ...\n",
            "settled.py": "project = 1\n",
            "feed.py": "",
            "string.py": "",
        },
    )
    assert len(house.modules) == 9
    assert house.lines() == 60 + 2 + 2 + 1
    assert folder_lines(house, ("record", "ground")) == 62  # `recorder` is another module
    assert folder_lines(house, ("records",)) is None
    assert [line for _, line in parameters(house, "project")] == [1, 2, 2]
    assert folder_sizes(house) == [("house", 5), ("house/ground", 2), ("house/record", 2)]
    names = {module.name for module in small(house)}
    assert names == {
        f"house.{each}" for each in "record.task_reading recorder settled feed string".split()
    }
    assert {module.name for module in named_by_verb(house)} == {
        "house.record.task_reading",
        "house.settled",
    }


AGENTS = ("claude", "codex", "gemini", "aider")


def test_the_files_and_tables_that_name_agents(tmp_path: Path) -> None:
    house = package(
        tmp_path,
        {
            "agents/gemini/__init__.py": "# gemini\n",
            "agents/gemini/hooks.py": 'NAME = "gemini"\n',
            "agents/codex.py": "# as gemini does\n",
            "agents_of_old.py": 'MODEL = "gemini-3"\n',
            "other.py": 'VARIABLE = "GEMINI_KEY"\ngemini_key = 1\n',
            "keyed.py": """
BY_NAME = {"claude": 1, "codex": 2, **dict.fromkeys(("gemini",), 3)}
TWO = {"claude": 1, "codex": 2}
FORMS: dict = {Form.CLAUDE: 1, Form.CODEX: 2, Form.AIDER: 3}
ROWS = (Row("Claude Code", 1), Row(name="codex"), Row("Gemini CLI", 2))
NAMES = frozenset({"claude", "codex", "aider"})
WORDS = "claude codex gemini".split()
PAIRS = [("claude", 1), ("codex", 2), ("gemini", 3)]
VALUES = {"a": "claude", "b": "codex", "c": "gemini"}
class Rows:
    listed = ["claude", *("codex", "gemini")]
def f(name):
    inner = ["claude", "codex", "gemini"]
    match name:
        case "claude" | "codex":
            return 1
        case "aider":
            return 2
""",
        },
    )
    assert [module.name for module in files_naming(house, "gemini")] == [
        "house.agents.codex",
        "house.agents_of_old",
        "house.keyed",
    ]
    assert [module.name for module in files_using(house, "gemini")] == [
        "house.agents_of_old",
        "house.keyed",
        "house.other",
    ]
    tables = agent_tables(house, AGENTS)
    assert [(table.line, table.agents) for table in sorted(tables, key=lambda each: each.line)] == [
        (2, ("claude", "codex", "gemini")),
        (4, ("claude", "codex", "aider")),
        (5, ("claude", "codex", "gemini")),
        (6, ("claude", "codex", "aider")),
        (7, ("claude", "codex", "gemini")),
        (8, ("claude", "codex", "gemini")),
        (11, ("claude", "codex", "gemini")),
        (14, ("claude", "codex", "aider")),
    ]


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("# as gemini does", False),
        ('"""Read what gemini wrote."""', False),
        ('print("gemini is not installed")', False),
        ('print(f"gemini is not in {now}")', False),
        ('NAME = "gemini"', True),
        ('PLACE = ".gemini/tmp"', True),
        ("NAMES = 'aider gemini'.split()", True),
        ("Form.GEMINI", True),
        ("def _gemini(): ...", True),
        ("from house.agents.gemini.hooks import ADAPTER", True),
        ("f(gemini=1)", True),
        ('NAME = "geminix"', False),
    ],
)
def test_code_that_names_an_agent_is_told_from_text(
    text: str, is_code: bool, tmp_path: Path
) -> None:
    house = package(tmp_path, {"some.py": text + "\n", "assistant/models/names.py": text + "\n"})
    assert [module.name for module in files_using(house, "gemini")] == ["house.some"] * is_code


def test_how_kinds_of_steps_are_told_apart(tmp_path: Path) -> None:
    house = package(
        tmp_path,
        {
            "step.py": """
Step = RunStep | ApplyStep | other.MergeStep
if TYPE_CHECKING:
    Detail = RunDetail | ApplyDetail | PhaseDetail
Shape = Circle | Square | PhaseDetail
""",
            "faces.py": """
def f(detail, kind, shape):
    match detail:
        case RunDetail():
            return 1
        case ApplyDetail(target=1) | details.PhaseDetail():
            return 2
        case _:
            assert_never(detail)
    match kind:
        case StepKind.RUN:
            return 3
    match shape:
        case Circle():
            return 4
    if isinstance(detail, RunDetail):
        return 5
    elif kind == StepKind.APPLY:
        return 6
    elif shape:
        return 7
    if kind in (StepKind.RUN, 1) or isinstance(shape, Circle):
        return 8
    elif shape:
        return isinstance(detail, (RunDetail, ApplyDetail))
    assert isinstance(detail, RunDetail)
    return step.kind in ("run", "phase"), step.kind == "dream", shape == "run", step.as_run
""",
            "record/ledger/step.py": "def is_run(step):\n    return isinstance(step, RunDetail)\n",
        },
    )
    assert step_classes(house) == {"RunDetail", "ApplyDetail", "PhaseDetail"}
    use = step_use(house)
    assert [place.line for place in use.closed_matches] == [3]
    assert [place.line for place in use.open_matches] == [10]
    assert [place.line for place in use.chains] == [16]
    assert sorted(place.line for place in use.questions) == [16, 18, 22, 25, 27]
    assert [place.line for place in use.checks] == [26]
    assert [place.line for place in use.by_name] == [27]
    assert [(place.module.name, place.line) for place in use.named] == [
        ("house.record.ledger.step", 2)
    ]


def test_what_commands_cost_is_shown(tmp_path: Path) -> None:
    house = package(tmp_path, {"a.py": "import house.b\n", "b.py": "x = 1\n", "c.py": ""})
    seen = {"house.a": Functions(1, 1), "house.b": Functions(6, 0), "house.c": Functions(1, 1)}
    loaded = Loaded(
        seen, others=42, git=1, fsyncs=2, patterns={"house.b": 2, "house.a": 1}, parsed=4
    )
    lines = list(unused(graph_of(house), "log", loaded, 2))
    assert lines[:2] == [
        "log: 3 modules of ours, 8 functions, 2 called, 75% never",
        "in 1 modules no function is called: 6 functions",
    ]
    assert lines[2:4] == ["3 patterns are compiled while modules are imported:", "  b 2, a 1"]
    assert lines[5:] == [
        f"{6:9}{6:8}{1:8}  b  <- a",
        f"{0:9}{1:8}{1:8}  a  <- an import in a function",
    ]
    text = budget_text({"log": loaded}, {"log": loaded._replace(parsed=300)})
    row = "| `log` | 3 ✓ | 8 ✓ | 75% (≤ 35%) | 2 | 42 ✓ | 1 (≤ 0) | 2 (≤ 0) | 3 ✓ | 300 ✓ |"
    assert text.splitlines()[2] == row
    assert list(beyond("log", loaded)) == [
        "`log`: unused 75%, and at most 35% are allowed",
        "`log`: git 1, and at most 0 are allowed",
        "`log`: fsyncs 2, and at most 0 are allowed",
    ]
    assert list(beyond("ls", loaded)) == []
    times = [Time("", BARE, 10.0), Time("src", "log", 45.0)]
    assert times_text(times).splitlines()[3] == "| src | `log` | 45.0 | 4.5 |"
    assert case_of("undo").needs_edit
    assert case_of("task list").words == ("task", "list")
    assert case_of("show 1").words == ("show", "1")
