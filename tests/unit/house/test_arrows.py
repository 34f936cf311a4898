"""Which module needs which, and how: statements, texts, programs; and walks along these arrows."""

from pathlib import Path

import pytest
from tools.house import lists
from tools.house.graph import LOADS, REACHES, graph_of
from tools.house.imports import Kind
from tools.house.named import computed_in, named_in
from tools.house.verbs import verbs_of

from unit.house.packages import package


def test_each_kind_of_statement_is_an_arrow_of_its_kind(tmp_path: Path) -> None:
    source = """
from typing import TYPE_CHECKING
import house.top
from house import beside
from . import relative
from .deep.down import name
if TYPE_CHECKING:
    from house.types import Shape
else:
    import house.other
try:
    import house.tried
except ImportError:
    import house.instead

class Row:
    import house.of_class
    def method(self):
        if self:
            from house.inside import thing
        async def inner():
            import house.deeper

def alone():
    if TYPE_CHECKING:
        import house.never
match source:
    case 1:
        import house.matched
"""
    names = (
        *("top", "beside", "relative", "deep/down", "types", "other", "tried", "instead"),
        *("of_class", "inside", "deeper", "never", "matched"),
    )
    files = {"here.py": source, **{f"{name}.py": "name = thing = Shape = 1\n" for name in names}}
    found = graph_of(package(tmp_path, files))
    by_kind = {
        kind: {a.target.removeprefix("house.") for a in found.arrows if a.kind is kind}
        for kind in Kind
    }
    assert by_kind[Kind.TOP] == {
        *("top", "beside", "relative", "deep.down", "other", "tried", "instead"),
        *("of_class", "matched"),
    }
    assert by_kind[Kind.INSIDE] == {"inside", "deeper"}
    assert by_kind[Kind.TYPES] == {"types", "never"}
    assert found.reach(["house.here"]) == {
        "house.here",
        *(f"house.{name}" for name in by_kind[Kind.TOP] | by_kind[Kind.INSIDE]),
    }
    assert "house.types" in found.reach(["house.here"], REACHES | {Kind.TYPES})
    assert "house.inside" not in found.reach(["house.here"], {Kind.TOP})


TABLE = """
VERBS = {"run": ("verbs.run", "do it"), "ui": ("house.web:UI", "show it")}
GROUPS = {"task": ("tasks", {"list": ("verbs.tasks:LIST", "all"), "gone": ("verbs.gone", "x")})}
BELOW = {"run": {"again": ("verbs.run:AGAIN", "once more")}}
HIDDEN = {"__serve": ("verbs.serve", "serve")}

def load(place):
    module = place.partition(":")[0]
    return import_module(module if "house." in module else f"house.cli.{module}")
"""


def test_texts_that_name_modules_are_found_and_resolved(tmp_path: Path) -> None:
    files = {
        "__main__.py": "from house.cli import table\n",
        "cli/table.py": TABLE,
        "cli/verbs/run.py": '"""Not house.lost."""\nfrom house import starting\n',
        "cli/verbs/tasks.py": "LIST = 1\n",
        "cli/verbs/serve.py": "",
        "web.py": "UI = 1\n",
        "starting.py": """
import sys
from pathlib import Path
from house.programs import client, kinds
PLACE = "house.web:UI"
LOST = ["house.web:GONE", "house.nowhere", "house/programs/gone.py"]
FILE = "house/programs/client.py"
CODE = '''
import sys
from house.web import UI, NOT_THERE
import house.programs.{kind}
'''
HOOK = Path(client.__file__).with_name("hook.py")
OWN = Path(__file__).with_name("missing.py")
OTHER = [sys.executable, "-m", "house.programs.alone"]
def started():
    words = ["__serve"]
    return [sys.executable, "-m", "house", *words]
SPLIT = (sys.executable, "-m", "house")
def by_kind(name):
    return import_module(f"{__package__}.programs.{name}") or import_module(name)
by_kind("large"), by_kind("lost")
EXTRA = "extra"
SAID = f"house.{LOST} is a sentence, and so is this: import house.web"
""",
        "programs/client.py": "",
        "programs/hook.py": "import client, json\n",
        "programs/alone.py": 'import house.web\nCODE = """\nfrom house.web import GONE\n"""\n',
        "programs/kinds.py": 'KINDS = {"small": 1}\ndef large(): return "large"\n',
        "programs/small.py": 'WORDS = ["python3", "-m", "house", "wrong"]\n',
        "programs/large.py": "",
        "programs/extra.py": "",
    }
    house = package(tmp_path, files)
    verbs = verbs_of(house)
    assert verbs.table == "house.cli.table"
    starting = house.modules["house.starting"]
    named = list(named_in(house, starting, verbs))
    assert {(each.text, each.target, each.kind) for each in named} == {
        ("house.web:UI", "house.web", Kind.STRING),
        ("house.web:NOT_THERE", "", Kind.STRING),
        ("house.programs", "house.programs", Kind.STRING),
        ("house.web:GONE", "", Kind.STRING),
        ("house.nowhere", "", Kind.STRING),
        ("house.programs.gone", "", Kind.PROGRAM),
        ("house.programs.client", "house.programs.client", Kind.PROGRAM),
        ("hook.py", "house.programs.hook", Kind.PROGRAM),
        ("missing.py", "", Kind.PROGRAM),
        ("house.programs.alone", "house.programs.alone", Kind.PROGRAM),
        ("-m house", "house.__main__", Kind.PROGRAM),
        ("__serve", "house.cli.verbs.serve", Kind.PROGRAM),
        ("small", "house.programs.small", Kind.STRING),
        ("large", "house.programs.large", Kind.STRING),
        ("lost", "", Kind.STRING),
        ("extra", "house.programs.extra", Kind.STRING),
    }
    # A text in a module that has nothing else of the kind; a verb that nobody knows.
    for name, found in (
        ("alone", ("house.web:GONE", "", Kind.STRING)),
        ("small", ("-m house without a verb", "", Kind.PROGRAM)),
    ):
        others = named_in(house, house.modules[f"house.programs.{name}"], verbs)
        assert [(each.text, each.target, each.kind) for each in others][-1] == found
    assert {each.prefix for each in computed_in(starting)} == {"house.programs.", ""}
    listed = {each.text: each.target for each in named_in(house, house.modules[verbs.table], verbs)}
    assert listed == {
        "run: house.cli.verbs.run": "house.cli.verbs.run",
        "ui: house.web:UI": "house.web",
        "task list: house.cli.verbs.tasks:LIST": "house.cli.verbs.tasks",
        "task gone: house.cli.verbs.gone": "",
        "run again: house.cli.verbs.run:AGAIN": "",
        "__serve: house.cli.verbs.serve": "house.cli.verbs.serve",
    }
    graph = graph_of(house)
    reached = graph.reach(lists.modules_of(graph, "run"))
    assert {"house.cli.verbs.serve", "house.cli.table", "house.programs.small"} <= reached
    assert "house.cli.verbs.tasks" not in reached  # the table of all verbs leads nowhere
    assert "house.programs.small" not in graph.reach(["house.cli.verbs.run"], LOADS)
    # A program that is started by its path finds its neighbour without the package.
    assert [(a.target, a.kind) for a in graph.arrows if a.source == "house.programs.hook"] == [
        ("house.programs.client", Kind.TOP)
    ]


def test_the_shortest_way_and_the_longest_chain(tmp_path: Path) -> None:
    files = {
        "a.py": "import house.b\nimport house.c\n",
        "b.py": "import house.c\ndef f():\n    import house.e\n",
        "c.py": "import house.d\n",
        "d.py": "",
        "e.py": "import house.f\n",
        "f.py": "import house.g\n",
        "g.py": "def f():\n    import house.e\n",
    }
    graph = graph_of(package(tmp_path, files))
    assert list(lists.why(graph, ("a", "d"), REACHES)) == [
        "house.a",
        f"  -> {'house.c':56} {'top':8} a.py:2",
        f"  -> {'house.d':56} {'top':8} c.py:1",
    ]
    assert list(lists.why(graph, ("d", "a"), REACHES)) == ["house.d does not reach house.a"]
    assert graph.longest_chain({Kind.TOP}) == ["house.a", "house.b", "house.c", "house.d"]
    assert [sorted(circle) for circle in graph.circles()] == [["house.e", "house.f", "house.g"]]
    chain = graph.longest_chain()  # a circle counts once
    assert len(chain) == 4
    assert graph.circles({Kind.TOP}) == []
    with pytest.raises(lists.NotKnown, match="'z'"):
        lists.modules_of(graph, "z")


def test_what_a_module_alone_is_the_way_to(tmp_path: Path) -> None:
    files = {
        "start.py": "import house.one\nimport house.two\n",
        "one.py": "import house.shared\nimport house.own\n" + "x = 1\n" * 8,
        "own.py": "x = 1\n" * 20,
        "two.py": "import house.shared\n",
        "shared.py": "x = 1\n" * 5,
    }
    graph = graph_of(package(tmp_path, files))
    lines = list(lists.reach(graph, "start", REACHES, 9))
    assert lines[0] == "start (house.start) reaches 5 modules, 38 lines"
    assert f"{10:8,}  {2:10} {30:10,}  house.one" in lines
    assert f"{5:8,}  {1:10} {5:10,}  house.shared" in lines
