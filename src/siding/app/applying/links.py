"""Links to commits of other repositories: those that `.gitmodules` names are submodules.

git records any other one, too, when a repository inside the workspace is added. But a clone gets an
empty directory of it, and `git submodule` fails.
"""

from collections.abc import Sequence

from siding.git.applying.bench import Bench, TreeEntry
from siding.ids import Sha

LINK = b"160000"


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
    known = bench.read_trees((tree, path.rpartition(b"/")[0]) for path in paths)
    gone: dict[bytes, TreeEntry | None] = {}
    for path in paths:
        directory, _, name = path.rpartition(b"/")
        entry = known.get((tree, directory), {}).get(name)
        if entry is not None and entry.mode == LINK:
            gone[path] = None
    return bench.edit_tree(tree, gone)
