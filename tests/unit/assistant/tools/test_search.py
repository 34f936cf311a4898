"""The tools Grep and Glob: what is found, how it is shown, and what is not searched."""

import os
import subprocess
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest

from siding.assistant.tools.factory import tools_of
from siding.assistant.tools.place import Place
from siding.assistant.tools.program import USUAL, Limits
from siding.assistant.tools.search.ripgrep import Searcher, Searches, Source, choose
from siding.ground.installation import adding
from siding.shellguard.face import JudgingPlace
from unit.assistant.tools.setting import Bench, place_in, with_tools


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = place_in(tmp_path)
    _write(place, {".gitignore": "*.log\nbuild/\n", "a.py": "import os\nX = 1\n"})
    subprocess.run(["git", "init", "-q"], cwd=place.workspace, check=True, env=dict(place.env))
    return place


@pytest.fixture
def search(place: Place) -> "Search":
    return Search(choose(place))


class Search:
    """Runs what a test does with tools that search with this ripgrep and these limits."""

    def __init__(self, searcher: Searcher, limits: Limits = USUAL) -> None:
        self._searcher = searcher
        self._limits = limits

    def __call__(self, place: Place, act: Callable[[Bench], Awaitable[None]]) -> None:
        async def with_searcher(at: Bench) -> None:
            memory = at.memory._replace(
                searches=Searches(place, self._searcher, limits=self._limits)
            )
            at.tools = tools_of(place, memory)
            await act(at)

        with_tools(place, with_searcher)


def _write(place: Place, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = place.workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def test_lines_files_and_counts(place: Place, search: Search) -> None:
    _write(place, {"b/c.txt": "one\nimport\nthree\nfour\nimport x\n", "z.py": "nothing\n"})
    os.utime(place.workspace / "a.py", ns=(1, 10**18))
    os.utime(place.workspace / "b/c.txt", ns=(1, 2 * 10**18))

    async def act(at: Bench) -> None:
        assert await at.text("Grep", pattern="^import") == (
            "2 files, the newest first:\nb/c.txt\na.py"
        )
        assert await at.text("Grep", pattern="^import", output_mode="content") == (
            "a.py:1:import os\nb/c.txt:2:import\nb/c.txt:5:import x"
        )
        counted = await at.call("Grep", pattern="^import", output_mode="count")
        assert counted.content == "3 lines in 2 files:\na.py:1\nb/c.txt:2"
        assert counted.details["numMatches"] == 3
        around = await at.text(
            "Grep", pattern="three", path="b/c.txt", output_mode="content", **{"-C": 1}
        )
        assert around == "b/c.txt-2-import\nb/c.txt:3:three\nb/c.txt-4-four"
        apart = await at.text("Grep", pattern="import", output_mode="content", **{"-A": 1})
        assert apart.split("\n")[2:5] == ["--", "b/c.txt:2:import", "b/c.txt-3-three"]
        bare = {"-n": False, "-i": True, "-B": 0}
        assert await at.text("Grep", pattern="X = 1", output_mode="content", **bare) == (
            "a.py:X = 1"
        )
        assert await at.text("Grep", pattern="no such") == "Nothing was found."

    search(place, act)


def test_files_are_chosen_by_glob_and_type(place: Place, search: Search) -> None:
    _write(place, {"added.log": "foo"})
    subprocess.run(
        ["git", "add", "-f", "added.log"], cwd=place.workspace, check=True, env=dict(place.env)
    )
    _write(place, {"s/x.ts": "foo", "s/t/y.tsx": "foo", "s/x.min.js": "foo", "x.log": "foo"})

    async def act(at: Bench) -> None:
        async def found(**given: object) -> set[str]:
            result = await at.call("Grep", pattern="foo", **given)
            return set(result.details["filenames"])

        assert await found(glob="*.ts") == {"s/x.ts"}
        assert await found(glob="s/**/*.{ts,tsx}") == {"s/x.ts", "s/t/y.tsx"}
        assert await found(glob="*.ts, *.tsx") == {"s/x.ts", "s/t/y.tsx"}
        assert await found(glob="!*.min.js") == {"s/x.ts", "s/t/y.tsx"}
        assert await found(glob="s/") == {"s/x.ts", "s/t/y.tsx", "s/x.min.js"}
        assert await found(type="ts") == {"s/x.ts", "s/t/y.tsx"}
        assert await found(type="ts", glob="t/*") == set()
        assert await found(type="ts", path="s", glob="t/*") == {"s/t/y.tsx"}
        assert await found(glob="*.log") == set()  # ignored, whatever the glob says
        assert await found(path="x.log") == {"x.log"}
        assert "like it are" in await at.error("Grep", pattern="foo", type="pyt")
        many = "{a,b}" * 20
        assert "256" in await at.error("Grep", pattern="foo", glob=many)

    search(place, act)


def test_what_is_not_searched(place: Place, search: Search) -> None:
    _write(
        place,
        {
            "bin": b"foo\0",
            "build/out.txt": "foo",
            "build/deep/in.txt": "foo",
            ".hidden/h": "foo",
            "wide.txt": "foo\n".encode("utf-16"),
        },
    )
    outside = place.home / "out.txt"
    outside.write_text("foo")
    (place.workspace / "link.txt").symlink_to(outside)
    (place.workspace / "dir").symlink_to(place.home)

    async def act(at: Bench) -> None:
        found = await at.call("Grep", pattern="foo")
        assert set(found.details["filenames"]) == {".hidden/h", "wide.txt"}
        inside = await at.call("Grep", pattern="foo", path="build")
        assert set(inside.details["filenames"]) == {"build/out.txt", "build/deep/in.txt"}
        assert "binary" in await at.error("Grep", pattern="foo", path="bin")
        assert "only below" in await at.error("Grep", pattern="foo", path="dir")
        assert "only below" in await at.error("Glob", pattern="/etc/*")
        assert "only below" in await at.error("Glob", pattern="../*")
        assert "does not exist" in await at.error("Grep", pattern="foo", path="gone")
        assert "out.txt:1:foo" in await at.text(
            "Grep", pattern="foo", path=str(outside), output_mode="content"
        )

    search(place, act)


def test_pages_and_long_lines(place: Place, search: Search) -> None:
    _write(place, {"many": "".join(f"line {n}\n" for n in range(1, 601)), "wide": "y" * 5000})

    async def act(at: Bench) -> None:
        first = await at.call("Grep", pattern="line", output_mode="content")
        lines = str(first.content).split("\n")
        assert lines[249:] == [
            "many:250:line 250",
            "(1 to 250 of 600. To go on, search with offset 250.)",
        ]
        assert first.details["appliedLimit"] == 250
        last = await at.text(
            "Grep", pattern="line", output_mode="content", offset=598, head_limit=5
        )
        assert last == "many:599:line 599\nmany:600:line 600"
        all_of_it = await at.text("Grep", pattern="line", output_mode="content", head_limit=0)
        assert all_of_it.count("\n") == 599
        beyond = await at.text("Grep", pattern="line", output_mode="content", offset=9999)
        assert "nothing from offset 9999" in beyond
        wide = await at.text("Grep", pattern="y+", output_mode="content", path="wide")
        assert wide == f"wide:1:{'y' * 500}… (a long line)"

    search(place, act)


def test_matches_over_several_lines(place: Place, search: Search) -> None:
    _write(place, {"m.txt": "a(\n  b\n)\nc\n"})

    async def act(at: Bench) -> None:
        one = await at.call("Grep", pattern=r"a\(.*\)", output_mode="content")
        assert one.content == "Nothing was found."
        several = await at.text("Grep", pattern=r"a\(.*\)", output_mode="content", multiline=True)
        assert several == "m.txt:1:a(\nm.txt:2:  b\nm.txt:3:)"
        assert "multiline" in await at.error("Grep", pattern=r"a\nb")
        assert "failed" in await at.error("Grep", pattern="(")
        assert "NUL" in await at.error("Grep", pattern="\0")

    search(place, act)


def test_glob_shows_the_newest_first_and_not_too_many(place: Place, search: Search) -> None:
    _write(place, {f"g/f{n:03}.txt": "x" for n in range(150)} | {"g/sub/[id].tsx": "", "x.log": ""})
    for number in range(150):
        os.utime(place.workspace / f"g/f{number:03}.txt", ns=(1, number * 10**9))

    async def act(at: Bench) -> None:
        result = await at.call("Glob", pattern="*.txt")
        lines = str(result.content).split("\n")
        assert lines[:2] == ["g/f149.txt", "g/f148.txt"]
        assert lines[100:] == ["(100 of 150 files, the newest. Narrow the pattern.)"]
        assert result.details["truncated"]
        assert await at.text("Glob", pattern="**/[id].tsx") == "g/sub/[id].tsx"
        assert await at.text("Glob", pattern="sub/*", path="g") == "g/sub/[id].tsx"
        assert await at.text("Glob", pattern=f"{at.root}/g/**/*.tsx") == "g/sub/[id].tsx"
        assert await at.text("Glob", pattern="*.log") == "No file matches."
        assert await at.text("Glob", pattern=f"{at.root}/a.py") == "a.py"

    search(place, act)


def test_stored_results_are_searched_although_nothing_there_is_in_a_repository(
    place: Place, search: Search
) -> None:
    place.results.mkdir()
    (place.results / "call.txt").write_text("needle\n")

    async def act(at: Bench) -> None:
        found = await at.text("Grep", pattern="needle", path=str(place.results))
        assert found.endswith("results/call.txt")

    search(place, act)


def test_files_of_secrets_are_searched_only_by_name(place: Place, search: Search) -> None:
    judging = JudgingPlace(
        cwd=str(place.workspace),
        workspace=str(place.workspace),
        home=str(place.home),
        agents=frozenset(),
        obeyed=(),
    )
    _write(place, {".env": "TOKEN=foo\n", "b.txt": "foo\n"})

    async def act(at: Bench) -> None:
        shown = await at.text("Grep", pattern="foo", output_mode="content")
        assert shown.startswith("b.txt:1:foo\n(Left out: 1 file in which secrets")
        assert "TOKEN" not in shown
        one = await at.text("Grep", pattern="foo", output_mode="content", path=".env")
        assert one == ".env:1:TOKEN=foo"

    search(place._replace(judging=judging), act)


def test_a_path_that_leads_elsewhere_than_when_it_was_judged_is_not_searched(
    place: Place, search: Search
) -> None:
    (place.workspace / "here").mkdir()
    (place.workspace / "link").symlink_to("here")

    async def act(at: Bench) -> None:
        tool = at.tools["Grep"]
        given = {"pattern": "x", "path": "link"}
        touches = tool.use(given).touches
        assert touches is not None
        assert touches.touches[0][1] == str(at.root / "here")
        (at.root / "link").unlink()
        (at.root / "link").symlink_to(place.home)
        result = await at.call("Grep", **given)
        assert "only below" in str(result.content)

    search(place, act)


def test_a_search_that_takes_too_long_or_finds_too_much_is_ended(
    place: Place, programs: Callable[[str, str], str]
) -> None:
    _write(place, {"much": "line of text\n" * 100_000})
    sleeper = Searcher(Source.SYSTEM, programs("slow", "exec sleep 60"))

    async def slow(at: Bench) -> None:
        text = await at.error("Grep", pattern="x")
        assert text.startswith("Nothing is known: it took more than 0.5 s.")

    async def much(at: Bench) -> None:
        text = await at.text("Grep", pattern="line", path="much", output_mode="content")
        assert text.endswith("Not all is here: more than 1 MB were printed. Narrow the search.")

    Search(sleeper, Limits(longest_s=0.5))(place, slow)
    Search(choose(place), Limits(most_bytes=1 << 20))(place, much)


def test_without_ripgrep_a_search_says_what_to_install_and_what_else_to_use(place: Place) -> None:
    async def act(at: Bench) -> None:
        for tool in ("Grep", "Glob"):
            text = await at.error(tool, pattern="import")
            assert "no ripgrep" in text
            assert "`grep` in Bash" in text
            assert adding("agent") in text

    Search(choose(place._replace(env={"PATH": "/none"}), lambda: None))(place, act)


def test_what_git_does_not_ignore_is_searched(place: Place, search: Search) -> None:
    _write(place, dict.fromkeys(("d/a.log", "d/keep.log", ".h/x", "no/a", "n\nl.py", "e/no"), "x"))
    rules = {".gitignore": "*.log\nno/\n/a.py\n!keep.log\n.h\n", "d/.gitignore": "!a.log\n"}
    _write(place, rules)
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--others", "--exclude-standard"],
        cwd=place.workspace,
        check=True,
        env=dict(place.env),
        capture_output=True,
    )

    async def act(at: Bench) -> None:
        found = await at.call("Glob", pattern="**/*")
        names = set(found.details["filenames"])
        assert names == set(os.fsdecode(listed.stdout).split("\0")) - {""}
        assert {"d/a.log", "d/keep.log", "e/no"} <= names

    search(place, act)


@pytest.fixture
def programs(tmp_path: Path) -> Callable[[str, str], str]:
    def make(name: str, script: str) -> str:
        folder = tmp_path / "programs" / name
        folder.mkdir(parents=True)
        (folder / "rg").write_text(f"#!/bin/sh\n{script}\n")
        (folder / "rg").chmod(0o755)
        return str(folder / "rg")

    return make


def test_what_searches_is_chosen(tmp_path: Path, programs: Callable[[str, str], str]) -> None:
    wheel = programs("wheel", "echo ripgrep 15.2.0")
    system = programs("system", "echo 'ripgrep 13.0.0 (rev x)'")
    broken = programs("broken", "exit 1")
    place = place_in(tmp_path)

    def chosen(wheel: str | None, path: str, **more: str) -> tuple[str, str, str]:
        env = {"PATH": os.path.dirname(path), **more}
        found = choose(place._replace(env=env), lambda: wheel)
        return found.source.value, found.program, found.note

    wish = {"USE_BUILTIN_RIPGREP": "0"}
    assert chosen(wheel, system) == ("wheel", wheel, "")
    assert chosen(wheel, system, **wish) == ("system", system, "")
    assert chosen(None, system) == ("system", system, "")
    source, used, note = chosen(wheel, "/none/rg", **wish)
    assert (source, used) == ("wheel", wheel)
    assert note == "there is no ripgrep on the search path, which USE_BUILTIN_RIPGREP asks for"
    source, used, note = chosen(broken, system)
    assert (source, used) == ("system", system)
    assert note == f"{broken} is not ripgrep, or does not work"
    source, used, note = chosen(None, broken)
    assert (source, used) == ("none", "")
    assert "nothing can be searched" in note
    inside = place.workspace / "rg"
    inside.write_text("#!/bin/sh\necho ripgrep 1\n")
    inside.chmod(0o755)
    assert chosen(None, str(inside))[0] == "none"


def test_the_note_is_told_once(tmp_path: Path) -> None:
    told: list[str] = []
    place = place_in(tmp_path, note=told.append)
    chosen = Searcher(Source.NONE, note="a note")

    async def act(_at: Bench) -> None:
        searches = Searches(place, choose=lambda _place: chosen)
        assert await searches.searcher() is chosen
        assert await searches.searcher() is chosen

    with_tools(place, act)
    assert told == ["siding: search: a note"]
