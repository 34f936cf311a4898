"""What exists only in a workspace outlives its removal, byte for byte (P12)."""

import os
import random
import stat
from pathlib import Path

import pytest

from .arena import Command, GateBroken, GateFailed, Setup
from .commands import GATE, act, board, filled, project_of, promising, works, workspace_of
from .harness import sweep
from .product import must

pytestmark = GATE

Manifest = dict[bytes, tuple[object, ...]]


def manifest(root: Path) -> Manifest:
    """Every name below a directory with its type, permissions and bytes; not git's own pointer."""
    found: Manifest = {}
    top = os.fsencode(root)
    for folder, folders, files in os.walk(top):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content: bytes = b""
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(path)
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    content = file.read()
            found[os.path.relpath(path, top)] = (stat.filemode(status.st_mode), content)
    return found


def crowded(seed: int) -> Setup:
    """Everything a workspace may hold that a `git worktree remove` would lose, at random names."""

    def setup(case: Path) -> None:
        filled(case)
        chance = random.Random(seed)
        root = os.fsencode(workspace_of(case, "alpha"))

        def put(name: bytes, data: bytes, mode: int = 0o644) -> None:
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
            os.chmod(path, mode)

        def git(*words: str, cwd: bytes = root) -> str:
            return must(case, Command(argv=("git", *words), cwd=os.fsdecode(cwd))).stdout.strip()

        odd = [b"a\nb", b"\xff\xfe bad", b"-rf", b" blank ", "ü".encode(), b"'\"$(x)", b"deep/er/x"]
        for name in chance.sample(odd, 5):
            put(name, chance.randbytes(200), chance.choice([0o644, 0o755, 0o600]))
        put(b".gitignore", b"*.log\nbuild/\n.env\n")
        put(b".env", b"SECRET=1\n", 0o600)
        put(b"build/model.bin", chance.randbytes(5000))
        put(b"x.log", b"log\r\n")
        os.makedirs(os.path.join(root, b"empty/inner"))
        os.symlink(b"/nowhere", os.path.join(root, b"dangling"))
        os.mkfifo(os.path.join(root, b"fifo"))
        put(b"nested/x", b"x\n")
        git("init", "-q", "--template=", cwd=os.path.join(root, b"nested"))
        git("add", "x", cwd=os.path.join(root, b"nested"))
        git("commit", "-qm", "nested", cwd=os.path.join(root, b"nested"))
        put(b"staged-only", b"staged %d\n" % seed)
        git("add", "staged-only")
        (case / "staged").write_text(git("rev-parse", ":staged-only"))
        os.unlink(os.path.join(root, b"staged-only"))
        git("checkout", "-q", "--detach")
        git("commit", "-q", "--allow-empty", "-m", f"detached {seed}")
        (case / "detached").write_text(git("rev-parse", "HEAD"))
        (case / "manifest").write_text(repr(manifest(workspace_of(case, "alpha"))))

    return setup


def nothing_is_lost(case: Path, promises: list[str]) -> None:
    if board(case)["alpha"]["workspace"] != "removed":
        assert not promises
        act(case, "worktree", "remove", "alpha", "--force")
    (trash,) = [path.parent for path in (project_of(case) / "trash").glob("*/workspace")]
    expected: Manifest = eval((case / "manifest").read_text())
    found = manifest(trash / "workspace")
    assert found == expected, sorted(set(found.items()) ^ set(expected.items()))[:3]
    for name in ("detached", "staged"):
        wanted = (case / name).read_text()
        must(case, Command(argv=("git", "cat-file", "-e", wanted), cwd="{case}/repo"))
    assert (trash / "git-dir/HEAD").read_text().strip() == (case / "detached").read_text()
    assert (trash / "git-dir/index").stat().st_size > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_a_removed_workspace_is_whole_in_the_trash(seed: int) -> None:
    sweep(
        crowded(seed),
        promising("worktree", "remove", "alpha", "--force"),
        nothing_is_lost,
        modes=("kill",),
        budget=3,
    )


def test_a_removal_that_deletes_would_be_seen() -> None:
    """The planted mistake is git's own command: it takes ignored files with it and says nothing."""
    script = 'cd "$1"/home/projects/*/workspaces/* && cd "$1"/repo && git worktree remove --force --force "$OLDPWD" && echo done'  # noqa: E501
    victim = Command(argv=("sh", "-c", script, "sh", "{case}"))
    with pytest.raises((GateFailed, GateBroken)):
        sweep(crowded(1), victim, nothing_is_lost, modes=("kill",), budget=2)


def test_a_workspace_replaced_by_a_link_is_left_alone(tmp_path: Path) -> None:
    """Another directory of that name is not the workspace: nothing there is recorded or moved."""
    filled(tmp_path)
    workspace = workspace_of(tmp_path, "alpha")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").write_text("precious\n")
    workspace.rename(tmp_path / "away")
    workspace.symlink_to(elsewhere)
    before = manifest(elsewhere)
    for words in (("run", "--", "true"), ("checkpoint",), ("worktree", "remove", "--force")):
        ran = act(tmp_path, *words, status=None)
        assert ran.status != 0, (words, ran)
        assert ran.stderr.strip(), words
    assert manifest(elsewhere) == before
    assert manifest(tmp_path / "away")
    workspace.unlink()
    (tmp_path / "away").rename(workspace)
    works(tmp_path)
