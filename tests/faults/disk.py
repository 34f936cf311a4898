"""What a command did to a directory tree, step by step, and a model of that tree.

A `Recorder` follows a traced run and writes down steps on numbered nodes; `applied` plays chosen
steps on the tree as it was before. What it cannot model (O_TMPFILE, device nodes, a move from
outside, stores through a shared mmap) raises or is found by `differs`.
"""

import hashlib
import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from .arena import GateBroken
from .disk_steps import (
    Data,
    Enter,
    Flush,
    Leave,
    Link,
    Move,
    Name,
    Node,
    Promised,
    Resize,
    Step,
    Store,
    Swap,
    Tree,
)
from .syscalls import Effect
from .tracer import RUN, RUN_AND_REPORT, Action, Call

_RENAME_EXCHANGE = 2
_O_TMPFILE = 0o20000000
_ROOT = 0


class Recorder:
    """`on_call` and `on_return` are a tracer's callbacks; `steps` grows. The roots to trace are the
    directory and the stdout file."""

    def __init__(self, root: Path, stdout: Path) -> None:
        self.root, self.stdout = root, str(stdout)
        self.steps: list[Step] = []
        self.modes: dict[int, int] = {}
        self._numbers: dict[int, int] = {}  # inode number -> node
        self.now: Tree = {}
        self._load(root)
        self.before = copied(self.now)

    def _load(self, path: Path) -> int:
        info = path.lstat()
        known = self._numbers.get(info.st_ino)
        if known is not None and info.st_nlink > 1 and not stat.S_ISDIR(info.st_mode):
            return known
        number = self._number(info)
        if stat.S_ISDIR(info.st_mode):
            self.now[number] = {item.name: self._load(item) for item in sorted(path.iterdir())}
        elif stat.S_ISLNK(info.st_mode):
            self.now[number] = Link(target=os.readlink(path))
        elif stat.S_ISREG(info.st_mode):
            self.now[number] = path.read_bytes()
        else:
            raise GateBroken(f"not modelled: the special file {path}")
        return number

    def _number(self, info: os.stat_result) -> int:
        number = len(self.modes)
        self._numbers[info.st_ino] = number
        self.modes[number] = stat.S_IMODE(info.st_mode)
        return number

    def on_call(self, call: Call) -> Action:
        if not call.changes or call.effect is Effect.LOCK:
            return RUN
        if call.effect is Effect.OPEN and call.flags & _O_TMPFILE == _O_TMPFILE:
            raise GateBroken(f"not modelled: O_TMPFILE in {call.describe(str(self.root))}")
        return RUN_AND_REPORT

    def on_return(self, call: Call) -> Action:
        if call.result < 0:
            return RUN
        if call.paths[0] == self.stdout:
            if call.effect is Effect.WRITE:
                self.steps.append(Promised(text=Path(self.stdout).read_bytes()))
        elif call.effect in (Effect.WRITE, Effect.SIZE):
            self._content(call)
        elif call.effect is Effect.SYNC:
            self._flush(call)
        elif call.effect is Effect.OPEN:
            self._opened(call)
        elif call.effect is Effect.META:
            self._meta(call.paths[0])
        elif call.name.startswith("rename"):
            self._renamed(call)
        elif call.effect is Effect.REMOVE:
            self._take(Leave(directory=self._parent(call.paths[0]), name=_name(call.paths[0])))
        elif call.name.startswith("link"):
            self._enter(call.paths[1])
        else:
            self._enter(call.paths[0])
        return RUN

    def _content(self, call: Call) -> None:
        path = call.paths[0] if call.fd is None else f"/proc/{call.pid}/fd/{call.fd}"
        self._compare(path)
        if call.fd is not None:
            info = Path(f"/proc/{call.pid}/fdinfo/{call.fd}").read_text("ascii")
            if int(info.split("flags:")[1].split()[0], 8) & os.O_DSYNC:
                self.steps.append(Flush(node=self._numbers[os.stat(path).st_ino]))

    def _compare(self, path: str) -> None:
        """The file's bytes against the model: whatever kind of write made the difference."""
        node = self._numbers.get(os.stat(path).st_ino)
        if node is None:
            raise GateBroken(f"not modelled: a write to {os.readlink(path)}, unknown to the model")
        old, new = self.now[node], Path(path).read_bytes()
        assert isinstance(old, bytes)
        shared = min(len(old), len(new))
        if len(new) < len(old):
            self._take(Resize(node=node, size=len(new)))
        start = next((at for at in range(shared) if old[at] != new[at]), shared)
        if old[:shared] == new[:shared]:
            start = shared
        if new[start:]:
            self._take(Store(node=node, offset=start, data=new[start:]))

    def _flush(self, call: Call) -> None:
        if call.name == "sync_file_range":
            return  # promises nothing after a power cut
        if call.name == "syncfs":
            self.steps.append(Flush(node=None))
            return
        node = self._numbers.get(os.stat(f"/proc/{call.pid}/fd/{call.fd}").st_ino)
        if node is not None:
            self.steps.append(Flush(node=node))

    def _opened(self, call: Call) -> None:
        path = f"/proc/{call.pid}/fd/{call.result}"
        info = os.stat(path)
        if info.st_ino not in self._numbers or self._entry(call.paths[0]) is None:
            self._enter(call.paths[0])
        elif call.flags & os.O_TRUNC and stat.S_ISREG(info.st_mode):
            self._compare(path)

    def _meta(self, path: str) -> None:
        info = os.lstat(path)
        if info.st_ino in self._numbers:
            self.modes[self._numbers[info.st_ino]] = stat.S_IMODE(info.st_mode)

    def _renamed(self, call: Call) -> None:
        source, target = call.paths
        node = self._entry(source)
        inside = [path.startswith(f"{self.root}/") for path in call.paths]
        if not inside[0] or node is None:
            raise GateBroken(f"not modelled: a move from outside: {call.describe(str(self.root))}")
        if not inside[1]:
            self._take(Leave(directory=self._parent(source), name=_name(source)))
            return
        names = (self._parent(source), _name(source), self._parent(target), _name(target))
        if call.name == "renameat2" and call.args[4] & _RENAME_EXCHANGE:
            there = self._entry(target)
            if there is None:
                raise GateBroken(f"not modelled: a swap with {target}, unknown to the model")
            self._take(Swap(*names, node=node, to_node=there))
        else:
            self._take(Move(*names, node=node))

    def _enter(self, path: str) -> None:
        """A new name: of a new node, or (link) of one we know."""
        info = os.lstat(path)
        linked = info.st_nlink > 1 and not stat.S_ISDIR(info.st_mode)
        node = self._numbers.get(info.st_ino) if linked else None
        if node is None:
            node = self._number(info)
            if stat.S_ISDIR(info.st_mode):
                empty: Node = {}
            elif stat.S_ISLNK(info.st_mode):
                empty = Link(target=os.readlink(path))
            else:
                empty = b""
            self.now[node] = empty
            self.before[node] = {} if isinstance(empty, dict) else empty
        self._take(Enter(directory=self._parent(path), name=_name(path), node=node))

    def _parent(self, path: str) -> int:
        return self._numbers[os.stat(os.path.dirname(path)).st_ino]

    def _entry(self, path: str) -> int | None:
        folder = self.now.get(self._parent(path)) if path.startswith(f"{self.root}/") else None
        return folder.get(_name(path)) if isinstance(folder, dict) else None

    def _take(self, step: Data | Name) -> None:
        self.steps.append(step)
        apply(self.now, step)

    def differs(self) -> bool:
        """Whether the real directory is not what the steps say."""
        again = Recorder(self.root, Path(self.stdout))
        return digest(again.now) != digest(self.now)


def copied(tree: Tree) -> Tree:
    return {number: dict(node) if isinstance(node, dict) else node for number, node in tree.items()}


def apply(tree: Tree, step: Data | Name, kept: int | None = None) -> None:
    """Plays one step; of a Store only the first `kept` bytes (-1: the size, but zero bytes)."""
    match step:
        case Store(node, offset, data):
            old = tree[node]
            assert isinstance(old, bytes)
            if kept is not None:
                data = bytes(len(data)) if kept < 0 else data[:kept]
            old = old.ljust(offset, b"\0")
            tree[node] = old[:offset] + data + old[offset + len(data) :]
        case Resize(node, size):
            old = tree[node]
            assert isinstance(old, bytes)
            tree[node] = old[:size].ljust(size, b"\0")
        case Enter(directory, name, node):
            _folder(tree, directory)[name] = node
        case Leave(directory, name):
            _folder(tree, directory).pop(name, None)
        case Move(directory, name, to_directory, to_name, node):
            if _folder(tree, directory).get(name) == node:
                del _folder(tree, directory)[name]
            _folder(tree, to_directory)[to_name] = node
        case Swap(directory, name, to_directory, to_name, node, to_node):
            _folder(tree, directory)[name] = to_node
            _folder(tree, to_directory)[to_name] = node


def applied(
    before: Tree, steps: Sequence[Step], dropped: frozenset[int], torn: Mapping[int, int]
) -> Tree:
    """The tree after the steps, without the dropped ones, with some stores cut (see `apply`)."""
    tree = copied(before)
    for index, step in enumerate(steps):
        if index not in dropped and not isinstance(step, Flush | Promised):
            apply(tree, step, torn.get(index))
    return tree


def digest(tree: Tree, node: int = _ROOT, above: tuple[int, ...] = ()) -> bytes:
    found = tree[node]
    if isinstance(found, dict):
        parts = [
            (name, digest(tree, child, (*above, node)))
            for name, child in sorted(found.items())
            if child not in above
        ]
        return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).digest()
    if isinstance(found, bytes):  # most of what there is; its repr takes longer than all else
        return hashlib.sha256(b"b" + found).digest()
    return hashlib.sha256(repr(found).encode("utf-8", "surrogateescape")).digest()


def write_out(
    tree: Tree,
    modes: Mapping[int, int],
    path: Path,
    node: int = _ROOT,
    above: tuple[int, ...] = (),
    written: dict[int, Path] | None = None,
) -> None:
    """Makes the real directory. A directory inside itself (never made whole) is left out."""
    found = tree[node]
    written = {} if written is None else written
    if isinstance(found, dict):
        path.mkdir()
        for name, child in found.items():
            if child not in above:
                write_out(tree, modes, path / name, child, (*above, node), written)
        path.chmod(modes[node])
    elif isinstance(found, Link):
        path.symlink_to(found.target)
    elif node in written:
        path.hardlink_to(written[node])
    else:
        written[node] = path
        path.write_bytes(found)
        path.chmod(modes[node])


def _folder(tree: Tree, node: int) -> dict[str, int]:
    found = tree[node]
    assert isinstance(found, dict)
    return found


def _name(path: str) -> str:
    return os.path.basename(path)
