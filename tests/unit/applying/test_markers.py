"""What git could only call by commits in a merge gets the names of the sides."""

import pytest

from siding.applying.content import Sources
from siding.applying.git.merging import Conflict, Merged, merge_trees
from siding.applying.markers import with_named_sides
from siding.ground.ids import Sha
from siding.record.moving.bench import TreeEntry

from .ledgers import Told

OURS, THEIRS = "main", "task a/b\\1"


def tree(sources: Sources, files: dict[bytes, str]) -> Sha:
    """Store a tree on the bench: a path, and the text of a file or, from "->", a link."""
    bench = sources.bench
    edits: dict[bytes, TreeEntry | None] = {}
    for path, text in files.items():
        mode = b"120000" if text.startswith("->") else b"100644"
        edits[path] = TreeEntry(mode, bench.put("blob", text.removeprefix("->").encode()))
    return bench.edit_tree(bench.put("tree", b""), edits)


def merge(sources: Sources, *sides: dict[bytes, str]) -> Merged:
    base, ours, theirs = (tree(sources, side) for side in sides)
    return merge_trees(sources.bench, base=base, ours=ours, theirs=theirs)


def named(sources: Sources, merged: Merged) -> Merged:
    return with_named_sides(sources.bench, merged, OURS, THEIRS)


def text_in(sources: Sources, tree: Sha, path: str) -> str:
    (body,) = sources.bench.read([f"{tree}:{path}"], kind=b"blob")
    return body.decode()


def test_the_markers_of_a_file_name_the_sides(told: Told) -> None:
    with told.sources() as sources:
        before = {b"d/f": "1\n", b"same": "1\n"}
        merged = merge(sources, before, {**before, b"d/f": "2\n"}, {**before, b"d/f": "3\n"})
        found = named(sources, merged)
        assert text_in(sources, found.tree, "d/f") == (
            f"<<<<<<< {OURS}\n2\n=======\n3\n>>>>>>> {THEIRS}\n"
        )
        assert found.conflicts == merged.conflicts == (Conflict(b"d/f", "contents"),)
        assert found.stages == merged.stages
        listed = sources.bench.read_trees([(found.tree, b""), (found.tree, b"d")])
        assert {where: set(each) for (_, where), each in listed.items()} == {
            b"": {b"d", b"same"},
            b"d": {b"f"},
        }


def test_without_a_conflict_a_merge_is_as_it_was(told: Told) -> None:
    with told.sources() as sources:
        merged = merge(sources, {b"a": "1\n"}, {b"a": "1\n", b"b": "1\n"}, {b"a": "2\n"})
        assert named(sources, merged) is merged


def test_a_text_that_has_the_commit_elsewhere_keeps_it(told: Told) -> None:
    with told.sources() as sources:
        merged = merge(sources, {b"f": "1\n"}, {b"f": "2\n"}, {b"f": "3\n"})
        text = f"x <<<<<<< {merged.ours}\n<<<<<<< {merged.ours}x\n{merged.theirs}\n"
        same = tree(sources, {b"f": text})
        assert named(sources, merged._replace(tree=same)).tree == same
        more = f"<<<<<<<<<< {merged.ours}:old\n>>>>>>> {merged.theirs}\r\n||||||| {merged.ours}\n"
        found = named(sources, merged._replace(tree=tree(sources, {b"f": more})))
        assert text_in(sources, found.tree, "f") == (
            f"<<<<<<<<<< {OURS}:old\n>>>>>>> {THEIRS}\r\n||||||| {OURS}\n"
        )


def test_a_file_that_was_set_aside_is_called_by_its_side(told: Told) -> None:
    with told.sources() as sources:
        merged = merge(sources, {b"x": "1"}, {b"x": "1", b"p": "2"}, {b"x": "1", b"p/f": "3"})
        found = named(sources, merged)
        assert [each.path for each in found.conflicts] == [b"p~main"]
        assert [each.path for each in found.stages] == [b"p~main"]
        assert text_in(sources, found.tree, "p~main") == "2"
        top = sources.bench.read_trees([(found.tree, b"")])[found.tree, b""]
        assert set(top) == {b"x", b"p", b"p~main"}
        merged = merge(sources, {b"x": "1"}, {b"x": "1", b"p/f": "3"}, {b"x": "1", b"p": "2"})
        found = named(sources, merged)
        assert [each.path for each in found.conflicts] == [b"p~task_a_b\\1"]


def test_a_link_is_not_looked_into(told: Told) -> None:
    with told.sources() as sources:
        first = merge(sources, {b"l": "->1"}, {b"l": "->2"}, {b"l": "->3"})
        target = f"->\n<<<<<<< {first.ours}\n"
        same = tree(sources, {b"l": target})
        stages = tuple(each._replace(mode="120000") for each in first.stages)
        found = named(sources, first._replace(tree=same, stages=stages))
        assert (found.tree, found.stages) == (same, stages)


@pytest.mark.parametrize("renamed", [b"ours", b"theirs"])
def test_a_path_that_the_result_lacks_and_sides_with_markers(told: Told, renamed: bytes) -> None:
    """Both have renamed a file, each to another name: its old name is in conflict, too."""
    body = "".join(f"line {number}\n" for number in range(20))
    with told.sources() as sources:
        merged = merge(
            sources,
            {b"old": body},
            {b"ours": body.replace("line 3\n", "mine\n")},
            {b"theirs": body.replace("line 3\n", "other\n")},
        )
        found = named(sources, merged)
        assert {each.path for each in found.conflicts} == {b"old", b"ours", b"theirs"}
        top = sources.bench.read_trees([(found.tree, b"")])[found.tree, b""]
        assert set(top) == {b"ours", b"theirs"}
        text = text_in(sources, found.tree, renamed.decode())
        assert f"<<<<<<< {OURS}:ours\nmine\n" in text
        assert f">>>>>>> {THEIRS}:theirs\n" in text
        (stage,) = [each for each in found.stages if each.path == renamed]
        (staged,) = sources.bench.read([stage.sha], kind=b"blob")
        assert staged.decode() == text
