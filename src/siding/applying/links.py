"""Links to commits of other repositories: those that `.gitmodules` names are submodules.

git records any other one, too, when a repository inside the workspace is added. But a clone gets an
empty directory of it, and `git submodule` fails.
"""

from collections.abc import Sequence

from siding.applying.git.commit_graph import links_made
from siding.applying.git.commits import RawCommit
from siding.ground.errors import SidingError
from siding.ground.git.paths import quote_path
from siding.ground.ids import Sha
from siding.record.moving.bench import Bench, TreeEntry

LINK = b"160000"


class StrayLinks(SidingError):
    """Commits would be published that link to a repository which nobody else can find."""

    code = "stray_links"


def registered_paths(bench: Bench, tree: Sha) -> set[bytes]:
    """Return the paths of the submodules that the `.gitmodules` of a tree names, with a URL."""
    entry = bench.read_trees([(tree, b"")]).get((tree, b""), {}).get(b".gitmodules")
    if entry is None or not entry.mode.startswith(b"100"):
        return set()
    done = bench.git.attempt(
        bench.place(), ["config", f"--blob={entry.sha}", "-z", "--list", "--no-includes"]
    )
    paths: dict[bytes, bytes] = {}
    urls = set()
    for field in done.stdout.split(b"\0"):
        key, _, value = field.partition(b"\n")
        name, _, what = key.rpartition(b".")
        if what == b"path":
            paths[name] = value.rstrip(b"/")
        elif what == b"url" and value:
            urls.add(name)
    return {path for name, path in paths.items() if name in urls}


def without_links(bench: Bench, tree: Sha, paths: Sequence[bytes]) -> Sha:
    """Return a tree without the links to commits at these paths."""
    if not paths:
        return tree
    known = bench.read_trees((tree, path.rpartition(b"/")[0]) for path in paths)
    gone: dict[bytes, TreeEntry | None] = {}
    for path in paths:
        directory, _, name = path.rpartition(b"/")
        entry = known.get((tree, directory), {}).get(name)
        if entry is not None and entry.mode == LINK:
            gone[path] = None
    return bench.edit_tree(tree, gone)


def stray_links(
    bench: Bench, commits: Sequence[RawCommit], theirs: Sequence[Sha]
) -> tuple[bytes, ...]:
    """Return the paths of links that the agent's commits make and that no `.gitmodules` names.

    Also of links that a later commit takes away. `theirs` are trees of the person's: a link that
    one of them has is their own.
    """
    made = links_made(bench, [each.sha for each in commits]) if commits else {}
    if not made:
        return ()
    trees: dict[str, Sha] = {each.sha: each.tree for each in commits}
    named = {sha: registered_paths(bench, trees[sha]) for sha in set[str]().union(*made.values())}
    stray = {path for path, shas in made.items() if any(path not in named[sha] for sha in shas)}
    known = bench.read_trees((tree, p.rpartition(b"/")[0]) for tree in theirs for p in stray)
    for tree in theirs:
        for path in list(stray):
            directory, _, name = path.rpartition(b"/")
            entry = known.get((tree, directory), {}).get(name)
            if entry is not None and entry.mode == LINK:
                stray.discard(path)
    return tuple(sorted(stray))


def refuse_links(stray: Sequence[bytes]) -> None:
    """Raise StrayLinks if there are any, as the agent's commits would be published as they are."""
    if stray:
        named = ", ".join(map(quote_path, stray[:5]))
        raise StrayLinks(
            f"--mode merge would publish commits of the agent that link to {named}, a repository "
            "that no .gitmodules names: clones could not check it out",
            hint="nothing was changed. --mode commit and --mode squash leave the link out; or, in "
            "the workspace, take its .git away, `git add` its files, and squash that into the "
            "commit that has the link",
        )
