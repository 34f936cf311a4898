"""The gate for missing flushes: every kind of directory a disk may hold after a power cut.

The victim runs once, recorded. For a cut between any two steps we build directories in which what a
flush covered is there, and of the rest chosen parts are lost, torn or zero. Two models:
  strict   POSIX: a name is safe only after fsync of its directory; the rest arrives in any order
  ordered  ext4, xfs, btrfs: names arrive in order, any flush makes all earlier names safe;
           the bytes of a file are safe only after its own flush

Not modelled: disks that lie about flushes, half of a move between two directories, times and modes
lost apart from their file.
"""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from .arena import (
    EVERY,
    SEED,
    TIMES,
    Arena,
    Check,
    Command,
    GateBroken,
    Report,
    Setup,
    in_workers,
    settle,
)
from .copies import adopt, remove_tree
from .disk import Recorder, applied, digest, write_out
from .disk_steps import Enter, Flush, Leave, Move, Promised, Resize, Step, Store, Swap
from .tracer import Tracer
from .trial import TIMEOUT_S
from .victims import run_traced

_ZERO = -1  # the size arrived, the bytes did not


class Loss(NamedTuple):
    """What is missing on the disk when the power fails before step `cut`."""

    cut: int
    label: str
    dropped: frozenset[int]
    torn: tuple[tuple[int, int], ...] = ()


def powercut(
    setup: Setup,
    victim: Command,
    check: Check,
    *,
    fs: str = "strict",
    budget: int = 80,
    seed: int = SEED,
) -> Report:
    """Checks up to `budget` distinct directories that a power cut may leave; raises GateFailed."""
    if fs not in ("strict", "ordered"):
        raise GateBroken(f"unknown file system model {fs!r}")

    def work(arena: Arena, number: int, count: int) -> Report:
        arena.prepare(setup)
        recorder = _record(arena, setup, victim, check)
        limit = len(recorder.steps) ** 3 if EVERY else -(-budget * TIMES // count)
        losses = _states(recorder, fs, seed, number, count)
        return _try_out(arena, recorder, losses, check, limit)

    return settle(f"powercut {fs}", in_workers(work))


def _record(arena: Arena, setup: Setup, victim: Command, check: Check) -> Recorder:
    arena.fresh()
    recorder = Recorder(arena.case, arena.stdout)
    tracer = Tracer([str(arena.case), str(arena.stdout)], recorder.on_call, recorder.on_return)
    ending = run_traced(tracer, arena, victim, timeout_s=TIMEOUT_S)
    if ending.status != 0 or ending.timed_out:
        raise GateBroken(f"undisturbed: {ending}: {arena.said()}")
    if recorder.differs():
        raise GateBroken("the recorded steps do not lead to the directory the victim left")
    wrong = arena.undisturbed(setup, victim, check)
    if wrong:
        raise GateBroken(f"undisturbed: {wrong}")
    return recorder


def _try_out(
    arena: Arena, recorder: Recorder, losses: Iterator[Loss], check: Check, limit: int
) -> Report:
    seen: set[tuple[bytes, int]] = set()
    failures = []
    for loss in losses:
        steps = recorder.steps[: loss.cut]
        tree = applied(recorder.before, steps, loss.dropped, dict(loss.torn))
        promises = _promises(steps)
        state = (digest(tree), len(promises))
        if state in seen:
            continue
        seen.add(state)
        remove_tree(arena.case)
        write_out(tree, recorder.modes, arena.case)
        adopt(arena.case)
        wrong = arena.verdict(check, promises)
        if wrong:
            failures.append(_describe(recorder, loss, wrong))
            arena.keep(f"cut-{loss.cut}-{len(seen)}")
        if len(seen) >= limit or (failures and not EVERY):
            break
    return Report(cases=len(seen), calls=len(recorder.steps), failures=tuple(failures))


def _promises(steps: Sequence[Step]) -> list[str]:
    text = next((step.text for step in reversed(steps) if isinstance(step, Promised)), b"")
    return text.decode("utf-8", "replace").split("\n")[:-1]


def _states(recorder: Recorder, fs: str, seed: int, number: int, count: int) -> Iterator[Loss]:
    """This worker's losses, in a seeded order: alternately the plainest loss and any other."""
    steps = recorder.steps
    safe = [_safe_from(steps, index, fs) for index in range(len(steps))]
    plain: list[Loss] = []
    other: list[Loss] = []
    for cut in range(len(steps) + 1):
        pending = [index for index in range(cut) if safe[index] > cut - 1]
        plain.append(Loss(cut=cut, label="nothing unflushed arrived", dropped=frozenset(pending)))
        other += _losses(steps, cut, pending, fs)
    chance = random.Random(seed)
    chance.shuffle(plain)
    chance.shuffle(other)
    plain, other = plain[number::count], other[number::count]
    while plain or other:
        if plain:
            yield plain.pop()
        if other:
            yield other.pop()


def _safe_from(steps: Sequence[Step], index: int, fs: str) -> int:
    """The index of the flush that makes a step safe; -1: needs none; len(steps): has none."""
    match steps[index]:
        case Store(node, _, _) | Resize(node, _):
            wanted, is_name = {node}, False
        case Enter(directory, _, _) | Leave(directory, _):
            wanted, is_name = {directory}, True
        case Move(directory, _, to_directory, _, _) | Swap(directory, _, to_directory, _, _, _):
            wanted, is_name = {directory, to_directory}, True
        case _:
            return -1
    for later in range(index + 1, len(steps)):
        step = steps[later]
        if isinstance(step, Flush):
            if step.node is None or (is_name and fs == "ordered"):
                return later
            wanted.discard(step.node)
            if not wanted:
                return later
    return len(steps)


def _losses(steps: Sequence[Step], cut: int, pending: list[int], fs: str) -> Iterator[Loss]:
    """The ways in which part of the pending steps may be missing."""
    data = [index for index in pending if isinstance(steps[index], Store | Resize)]
    names = [index for index in pending if index not in data]
    every = frozenset(pending)
    yield Loss(cut=cut, label="everything arrived", dropped=frozenset())
    if data:
        yield Loss(cut=cut, label="names without data", dropped=frozenset(data))
        zeros = tuple((index, _ZERO) for index in data if isinstance(steps[index], Store))
        yield Loss(cut=cut, label="names and sizes, zero bytes", dropped=frozenset(), torn=zeros)
    for index in data:
        yield Loss(cut=cut, label="one write lost", dropped=frozenset({index}))
        yield Loss(cut=cut, label="one write alone arrived", dropped=every - {index})
    for at in range(len(names)):
        rest = frozenset(names[at:])
        yield Loss(cut=cut, label="later names lost, all data", dropped=rest)
        yield Loss(cut=cut, label="later names and all data lost", dropped=rest | set(data))
        if fs == "strict":
            one = frozenset({names[at]})
            yield Loss(cut=cut, label="one name lost", dropped=one)
            yield Loss(
                cut=cut, label="one name and all data arrived", dropped=frozenset(names) - one
            )
    for index in data[-4:]:
        step = steps[index]
        if isinstance(step, Store):
            for kept in sorted({1, len(step.data) // 2, len(step.data) - 1} - {0}):
                torn = ((index, kept),)
                yield Loss(cut=cut, label="one write torn", dropped=frozenset(), torn=torn)


def _describe(recorder: Recorder, loss: Loss, wrong: str) -> str:
    lost = "; ".join(_text(recorder, index) for index in sorted(loss.dropped)[:6])
    torn = "; ".join(f"{_text(recorder, index)} cut to {kept}" for index, kept in loss.torn[:3])
    what = ", ".join(part for part in (lost and f"lost: {lost}", torn) if part)
    return f"  cut before step {loss.cut}, {loss.label}; {what}\n    " + wrong.replace(
        "\n", "\n    "
    )


def _text(recorder: Recorder, index: int) -> str:
    step = recorder.steps[index]
    names = _names(recorder)
    match step:
        case Store(node, offset, data):
            return f"#{index} write {names.get(node, '?')} +{len(data)} at {offset}"
        case Resize(node, size):
            return f"#{index} resize {names.get(node, '?')} to {size}"
        case Enter(_, name, _) | Leave(_, name):
            return f"#{index} {type(step).__name__.lower()} {name}"
        case Move(_, name, _, to_name, _):
            return f"#{index} rename {name} to {to_name}"
        case Swap(_, name, _, to_name, _, _):
            return f"#{index} exchange {name} and {to_name}"
        case _:
            return f"#{index}"


def _names(recorder: Recorder) -> dict[int, str]:
    """A name for each node, for people."""
    found: dict[int, str] = {}
    for node in recorder.now.values():
        if isinstance(node, dict):
            found.update({child: name for name, child in node.items()})
    for step in recorder.steps:
        if isinstance(step, Enter):
            found.setdefault(step.node, step.name)
    return found
