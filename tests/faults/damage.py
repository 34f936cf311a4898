"""The gate for damaged files: a check that must neither fall over, hang nor lie."""

import os
import random
import resource
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from forking import address_space

from .arena import (
    SEED,
    Arena,
    GateBroken,
    Report,
    Setup,
    in_workers,
    settle,
    time_limit,
)

DamageCheck = Callable[[Path, str, bytes], None]
_MEMORY = 1 << 30  # bytes of address space above what the test process itself has
_DEEP = 100_000


def _line(data: bytes, chance: random.Random, change: Callable[[bytes], bytes]) -> bytes:
    lines = data.splitlines(keepends=True) or [b""]
    at = chance.randrange(len(lines))
    lines[at] = change(lines[at])
    return b"".join(lines)


def _insert(data: bytes, chance: random.Random, what: bytes) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + what + data[at:]


def _flip(data: bytes, chance: random.Random, count: int) -> bytes:
    changed = bytearray(data)
    for _ in range(count if data else 0):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _zero_block(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) or 1)
    size = min(64, len(data) - at)
    return data[:at] + bytes(size) + data[at + size :]


CONTENT: Mapping[str, Callable[[bytes, random.Random], bytes]] = {
    "empty": lambda _data, _chance: b"",
    "only a newline": lambda _data, _chance: b"\n",
    "cut anywhere": lambda data, chance: data[: chance.randrange(len(data) or 1)],
    "cut in the last line": lambda data, chance: data[: -chance.randrange(2, 12)],
    "no last newline": lambda data, _chance: data.removesuffix(b"\n"),
    "all zero": lambda data, _chance: bytes(len(data)),
    "zeros at the end": lambda data, _chance: data + bytes(4096),
    "zeros inside": _zero_block,
    "one bit": lambda data, chance: _flip(data, chance, 1),
    "many bits": lambda data, chance: _flip(data, chance, 20),
    "bad UTF-8": lambda data, chance: _insert(data, chance, b"\xff\xfe\x80"),
    "lone surrogate": lambda data, chance: _insert(data, chance, b"\\ud800"),
    "BOM": lambda data, _chance: b"\xef\xbb\xbf" + data,
    "UTF-16": lambda data, _chance: data.decode("utf-8", "replace").encode("utf-16"),
    "CRLF": lambda data, _chance: data.replace(b"\n", b"\r\n"),
    "only CR": lambda data, _chance: data.replace(b"\n", b"\r"),
    "blank lines": lambda data, _chance: data.replace(b"\n", b"\n\n \n"),
    "line twice": lambda data, chance: _line(data, chance, lambda line: line + line),
    "line lost": lambda data, chance: _line(data, chance, lambda _line: b""),
    "line halved, glued to the next": lambda data, chance: _line(
        data, chance, lambda line: line[: len(line) // 2]
    ),
    "random line": lambda data, chance: _line(data, chance, lambda _: chance.randbytes(80) + b"\n"),
    "random bytes": lambda data, chance: chance.randbytes(len(data) or 1),
    "foreign text": lambda data, chance: _insert(data, chance, b"\n<<<<<<< HEAD\n"),
    "deep list": lambda data, _chance: data + b"[" * _DEEP + b"]" * _DEEP + b"\n",
    "deep object": lambda data, _chance: data + b'{"a":' * _DEEP + b"1" + b"}" * _DEEP + b"\n",
    "huge line": lambda data, _chance: data + b'{"a":"' + b"x" * (40 << 20) + b'"}\n',
    "huge number": lambda data, _chance: data + b'{"version":' + b"9" * 10_000 + b"}\n",
    "not an object": lambda _data, _chance: b'[1, "a", null]\n',
    "null": lambda _data, _chance: b"null\n",
    "NaN": lambda data, _chance: data + b'{"a": NaN}\n',
    "key twice": lambda data, _chance: data + b'{"a": 1, "a": 2}\n',
    "an escape sequence": lambda data, chance: _insert(data, chance, b"\x1b]0;x\x07"),
}


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _linked(target: str) -> Callable[[Path], None]:
    def place(path: Path) -> None:
        path.unlink()
        path.symlink_to(target.replace("{name}", path.name))

    return place


PLACE: Mapping[str, Callable[[Path], None]] = {
    "missing": Path.unlink,
    "fifo": _fifo,
    "directory": _directory,
    "symlink loop": _linked("{name}"),
    "dangling symlink": _linked("nowhere/at/all"),
    "symlink to /dev/zero": _linked("/dev/zero"),
    "symlink to /etc/passwd": _linked("/etc/passwd"),
    "unreadable": lambda path: path.chmod(0),
}

KINDS = (*CONTENT, *PLACE)


def damage(path: Path, kind: str, chance: random.Random) -> bytes:
    """Damages a file in one way; returns what it held."""
    before = path.read_bytes()
    if kind in CONTENT:
        path.write_bytes(CONTENT[kind](before, chance))
    else:
        PLACE[kind](path)
    return before


def survives_damage(
    setup: Setup,
    file: str,
    check: DamageCheck,
    *,
    kinds: Sequence[str] = KINDS,
    times: int = 1,
    seconds: int = 30,
    seed: int = SEED,
) -> Report:
    """Damages `file` (below the case) in each kind, `times` times.

    `check(case, kind, undamaged bytes)` asserts what is still to be had. Each check has `seconds`
    and 1 GiB, in a process of its own. As root nothing is unreadable, so that kind is left out.
    """
    cases = [(file, kind, turn) for turn in range(times) for kind in kinds]
    return damage_each(setup, cases, lambda _file: check, seconds=seconds, seed=seed)


def damage_each(
    setup: Setup,
    cases: Sequence[tuple[str, str, int]],
    check_of: Callable[[str], DamageCheck],
    *,
    seconds: int = 30,
    seed: int = SEED,
) -> Report:
    """As `survives_damage`, for cases of many files: each a file, a kind and a turn."""
    chosen = [each for each in cases if each[1] != "unreadable" or os.geteuid() != 0]

    def work(arena: Arena, number: int, count: int) -> Report:
        arena.prepare(setup)
        failures = []
        share = chosen[number::count]
        for file, kind, turn in share:
            arena.fresh()
            before = damage(arena.case / file, kind, random.Random(f"{seed}/{kind}/{turn}"))
            wrong = _checked(arena, check_of(file), kind, before, seconds)
            if wrong:
                told = wrong.replace("\n", "\n    ")
                failures.append(f"  {kind} in {file} (turn {turn}): {told}")
                arena.keep(f"{Path(file).name}-{kind}-{turn}")
        return Report(cases=len(share), calls=0, failures=tuple(failures))

    if not chosen:
        raise GateBroken("damage: no kinds")
    return settle(f"damage of {chosen[0][0]}", in_workers(work))


def _checked(
    arena: Arena, check: DamageCheck, kind: str, before: bytes, seconds: int
) -> str | None:
    """The check in a child with limits; what is wrong, or None."""
    arena.stderr.write_bytes(b"")
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            most = address_space() + _MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            with time_limit(seconds):
                check(arena.case, kind, before)
            code = 0
        except BaseException:  # noqa: BLE001 - a forked child must never return
            arena.stderr.write_text(traceback.format_exc()[-1500:], "utf-8")
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if status == 0:
        return None
    return arena.complaints() or f"died: status {os.waitstatus_to_exitcode(status)}"
