"""Instruction files: which, in which order, once each, and never without bounds."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.assistant.loop.instructions import (
    DEEPEST,
    MOST_DIRECTORIES,
    MOST_IMPORTS,
    Candidate,
    Found,
    Origin,
    Places,
    Room,
    Why,
    at_start,
    directories_above,
    gather,
    in_directory,
)

from .trees import HOME, MACHINE, PLACES, ROOT, Tree, names


def test_the_general_comes_before_the_particular() -> None:
    places = PLACES._replace(directory=ROOT / "a" / "b", main=Path("/main"))
    tree = Tree(
        {
            "a/b/CLAUDE.md": "8",
            "a/b/AGENTS.md": "7",
            "a/AGENTS.md": "6",
            "CLAUDE.local.md": "5",
            ".claude/CLAUDE.md": "4",
            "CLAUDE.md": "3a",
            "AGENTS.md": "3",
            str(HOME / ".claude/CLAUDE.md"): "2",
            str(HOME / ".config/siding/AGENTS.md"): "1",
            str(MACHINE): "0",
            "/main/CLAUDE.local.md": "9",
            "/main/AGENTS.md": "of another worktree",
            "a/c/AGENTS.md": "beside the way",
            "a/b/c/AGENTS.md": "below",
        }
    )
    found = tree.gathered(places)
    assert [each.text for each in found.files] == [
        "0",
        "1",
        "2",
        "3",
        "3a",
        "4",
        "5",
        "6",
        "7",
        "8",
        "9",
    ]
    assert [each.origin for each in found.files] == [
        Origin.MACHINE,
        *[Origin.PERSON] * 2,
        *[Origin.REPOSITORY] * 8,
    ]
    assert names(found) == [
        "/etc/siding/AGENTS.md",
        "~/.config/siding/AGENTS.md",
        "~/.claude/CLAUDE.md",
        "AGENTS.md",
        "CLAUDE.md",
        ".claude/CLAUDE.md",
        "CLAUDE.local.md",
        "a/AGENTS.md",
        "a/b/AGENTS.md",
        "a/b/CLAUDE.md",
        "/main/CLAUDE.local.md",
    ]


def test_the_same_in_one_directory_is_shown_once() -> None:
    for other in ("said", ROOT / "AGENTS.md", "said\n\n"):
        assert names(Tree({"AGENTS.md": "said", "CLAUDE.md": other}).gathered()) == ["AGENTS.md"]
    elsewhere = Tree({"AGENTS.md": "said", "a/AGENTS.md": "said"})
    assert len(elsewhere.gathered(PLACES._replace(directory=ROOT / "a")).files) == 2
    assert Tree({"AGENTS.md": " \n\n"}).gathered().files == ()


def test_imports_come_behind_what_imports_them_and_say_so() -> None:
    tree = Tree(
        {
            "AGENTS.md": "See @docs/a.md, and (@nobody).",
            "docs/a.md": "@b.md",
            "docs/b.md": "end",
            "CLAUDE.md": "@AGENTS.md",
        }
    )
    found = tree.gathered()
    assert [(each.name, each.importer) for each in found.files] == [
        ("AGENTS.md", ""),
        ("docs/a.md", "AGENTS.md"),
        ("docs/b.md", "docs/a.md"),
        ("CLAUDE.md", ""),
    ]
    assert found.omitted == ()


def test_the_person_may_import_from_anywhere_and_the_repository_from_the_workspace() -> None:
    own = str(HOME / ".claude/CLAUDE.md")
    tree = Tree(
        {
            own: "@~/style.md @/opt/house.md",
            str(HOME / "style.md"): "style",
            "/opt/house.md": "house",
            "AGENTS.md": "@~/style.md @/opt/house.md @../other/x.md @in.md @more/y.md @/extra/z.md",
            "in.md": Path("/opt/house2.md"),
            "/opt/house2.md": "secret",
            "/extra/z.md": "further",
        }
    )
    found = tree.gathered(PLACES._replace(extra=(Path("/extra"),)))
    assert names(found) == [
        "~/.claude/CLAUDE.md",
        "~/style.md",
        "/opt/house.md",
        "AGENTS.md",
        "/extra/z.md",
    ]
    assert [(each.name, each.why, each.importer) for each in found.omitted] == [
        ("~/style.md", Why.OUTSIDE, "AGENTS.md"),
        ("/opt/house.md", Why.OUTSIDE, "AGENTS.md"),
        ("../other/x.md", Why.OUTSIDE, "AGENTS.md"),
        ("in.md", Why.OUTSIDE, "AGENTS.md"),
    ]


def test_a_place_outside_is_not_even_looked_for() -> None:
    tree = Tree({"AGENTS.md": "@~/.ssh/id_rsa @/etc/shadow @../../x"})
    tree.gathered()
    assert [each for each in tree.looked_at if each not in _usual(PLACES)] == []


def test_imports_end_at_their_depth_and_a_circle_is_no_depth() -> None:
    chain = {f"{at}.md": f"@{at + 1}.md" for at in range(1, 9)} | {"AGENTS.md": "@1.md"}
    found = Tree(chain).gathered()
    assert names(found) == ["AGENTS.md", *(f"{at}.md" for at in range(1, DEEPEST + 1))]
    assert [(each.name, each.why) for each in found.omitted] == [
        (f"{DEEPEST + 1}.md", Why.TOO_DEEP)
    ]
    circle = {f"{at}.md": f"@{at + 1}.md" for at in range(1, 5)}
    found = Tree(circle | {"AGENTS.md": "@1.md", "5.md": "@AGENTS.md @3.md @5.md"}).gathered()
    assert len(found.files) == 6
    assert found.omitted == ()


@given(
    st.dictionaries(
        st.integers(0, 7), st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=8
    )
)
def test_whatever_imports_whatever_each_file_is_shown_at_most_once(
    graph: dict[int, list[int]],
) -> None:
    files = {
        f"{at}.md": f"file {at} " + " ".join(f"@{to}.md" for to in each)
        for at, each in graph.items()
    }
    found = Tree(files | {"AGENTS.md": "@0.md @1.md"}).gathered()
    shown = names(found)
    assert len(set(shown)) == len(shown)
    assert set(shown) <= {"AGENTS.md", *files}
    assert {name for name in ("0.md", "1.md") if name in files} <= set(shown)
    for each in found.files:
        assert (each.importer == "") == (each.name == "AGENTS.md")


@given(
    st.lists(st.text("abc\n ", min_size=1, max_size=400), min_size=1, max_size=6),
    st.integers(1, 300),
    st.integers(1, 900),
)
def test_no_tree_is_larger_than_the_room(texts: list[str], one: int, every: int) -> None:
    imports = " ".join(f"@{at}.md" for at in range(len(texts)))
    files = {f"{at}.md": text for at, text in enumerate(texts)}
    tree = Tree({"AGENTS.md": imports, "CLAUDE.md": "own words " + imports, **files})
    found = tree.gathered(room=Room(one=one, all=every))
    assert sum(len(each.text) for each in found.files) <= min(every, 2 * one)
    for each in found.files:
        given_text = {ROOT / name: text for name, text in files.items()}.get(each.path)
        if given_text is not None:
            assert given_text.strip("\n").startswith(each.text)
            assert each.is_cut == (given_text.strip("\n") != each.text)


def test_what_has_no_room_is_named() -> None:
    tree = Tree({"AGENTS.md": "a" * 50, "CLAUDE.md": "b" * 50, "CLAUDE.local.md": "c"})
    found = tree.gathered(room=Room(one=40, all=60))
    assert [(each.text, each.is_cut) for each in found.files] == [
        ("a" * 40, True),
        ("b" * 20, True),
    ]
    assert [(each.name, each.why) for each in found.omitted] == [("CLAUDE.local.md", Why.NO_ROOM)]


def test_a_cut_is_at_the_end_of_a_line_if_one_is_near() -> None:
    found = Tree({"AGENTS.md": "one line\nanother line\n"}).gathered(room=Room(one=12, all=99))
    assert [each.text for each in found.files] == ["one line"]


def test_a_flood_of_imports_is_looked_at_only_so_far() -> None:
    flood = " ".join(f"@{at}" for at in range(5000))
    tree = Tree({"AGENTS.md": flood, "CLAUDE.md": f"again {flood}"})
    found = tree.gathered()
    assert len(tree.looked_at) == MOST_IMPORTS + len(_usual(PLACES))
    assert [(each.name, each.why) for each in found.omitted] == [(f"{MOST_IMPORTS}", Why.TOO_MANY)]


@pytest.mark.parametrize("why", [Why.NO_FILE, Why.NO_TEXT, Why.DENIED])
def test_what_cannot_be_read_is_named_and_stops_nothing(why: Why) -> None:
    tree = Tree({"AGENTS.md": why, "CLAUDE.md": "@x.md said", "x.md": why})
    found = tree.gathered()
    assert names(found) == ["CLAUDE.md"]
    assert [(each.name, each.importer) for each in found.omitted] == [
        ("AGENTS.md", ""),
        ("x.md", "CLAUDE.md"),
    ]


def test_other_directories_cost_nothing() -> None:
    """What is looked at depends on the way to where the agent works, not on the tree."""
    small = Tree({"AGENTS.md": "a"})
    large = Tree({"AGENTS.md": "a"} | {f"d{at}/AGENTS.md": "x" for at in range(10_000)})
    assert small.gathered() == large.gathered()
    assert small.looked_at == large.looked_at


def test_a_very_long_way_is_looked_at_from_both_ends() -> None:
    deep = ROOT.joinpath(*["d"] * 1000)
    tree = Tree({"AGENTS.md": "top", str(deep / "AGENTS.md"): "here"})
    found = tree.gathered(PLACES._replace(directory=deep))
    assert [each.text for each in found.files] == ["top", "here"]
    assert len({each.parent for each in tree.looked_at}) < 3 * MOST_DIRECTORIES


def test_a_directory_that_is_elsewhere_counts_as_the_root() -> None:
    assert at_start(PLACES._replace(directory=Path("/tmp"))) == at_start(PLACES)


def test_the_directories_that_hold_a_file() -> None:
    assert directories_above(PLACES, ROOT / "a/b/c.py") == [ROOT / "a", ROOT / "a/b"]
    assert directories_above(PLACES, ROOT / "c.py") == []
    assert directories_above(PLACES, ROOT) == []
    assert directories_above(PLACES, Path("/etc/passwd")) == []
    assert directories_above(PLACES, Path("/work/repository/x")) == []


def test_what_is_known_is_not_shown_again() -> None:
    tree = Tree({"AGENTS.md": "@a/AGENTS.md", "a/AGENTS.md": "a", "a/CLAUDE.md": "b"})
    first = tree.gathered()
    nested = gather(in_directory(PLACES, ROOT / "a"), tree.read, home=HOME, known=first.files)
    assert names(nested) == ["a/CLAUDE.md"]


def test_a_file_that_was_only_begun_to_be_read_is_cut() -> None:
    def read(path: Path, roots: tuple[Path, ...]) -> Found | Why | None:
        found = Tree({"AGENTS.md": "beginning"}).read(path, roots)
        return found._replace(is_whole=False) if isinstance(found, Found) else found

    (file,) = gather(
        [Candidate(ROOT / "AGENTS.md", "AGENTS.md", Origin.PERSON)], read, home=HOME
    ).files
    assert file.is_cut


def _usual(places: Places) -> set[Path]:
    return {each.path for each in at_start(places)}
