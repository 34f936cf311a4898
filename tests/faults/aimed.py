"""A writer saves a file at any call of an act that moves files: not one of its bytes is lost.

The act runs traced, with all processes that it starts. It is stopped before each call that changes
a name or content below its root, which is the workspace, or the person's checkout but `.git`; once
it has begun there, before each that changes something in a trash; and after each of these that
changes names. Also at calls before that, while it looks and prepares. While it stands still a
writer (`writers.py`) saves one file with a token that is nowhere else. Then the act goes on to its
end, whatever it answers.

Every token must then be found (`tokens.py` says where), also after `status` and `doctor`. And the
act is done, or has refused and changed nothing: every path but the writer's is as after the act
without a writer, or as before it; branches are as before it, if it refused.

SIDING_FAULTS_REPORT=<file> gets one line of JSON for each act, the same as is printed.
"""

import hashlib
import os
import stat
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import counted

from .aimed_acts import MovingAct
from .aimed_run import AimedRun, Shot, Stage, Stop
from .arena import (
    EVERY,
    SEED,
    TIMES,
    Arena,
    Command,
    GateBroken,
    GateFailed,
    in_workers,
    note,
    sample,
)
from .commands import act
from .harness import BUGS
from .product import must
from .tokens import lost
from .writers import Saved, Way

_ON_WHAT_IS_THERE = (Way.REPLACE, Way.APPEND, Way.REWRITE, Way.MAP)
_ON_WHAT_COMES = (Way.CREATE, Way.REPLACE, Way.REWRITE)


class Outcome(NamedTuple):
    """What the cases of one act came to; `lost` and `wrong` describe each."""

    stops: int  # once it has begun to move files
    cases: int
    saved: int  # cases in which the writer was able to save
    refused: int  # cases in which the act refused
    missed: int  # cases in which the act made fewer calls, and so never stopped
    lost: tuple[str, ...]
    wrong: tuple[str, ...]

    def told(self, name: str) -> str:
        return (
            f"{name}: {self.stops} stops, {self.cases} cases ({self.missed} never reached),"
            f" {self.refused} refused; {self.saved} tokens saved, {len(self.lost)} lost;"
            f" {len(self.wrong)} wrong otherwise"
        )


def aim(
    name: str, moving: MovingAct, *, budget: int, seed: int = SEED, by_git: bool = False
) -> Outcome:
    """Run about `budget` cases of an act, or all with SIDING_FAULTS=every; tell what came of it.

    `by_git`: the act is git's own, for a comparison; then only tokens are looked for.
    """

    def work(arena: Arena, number: int, count: int) -> Outcome:
        here = _Range(arena, moving, by_git=by_git)
        return here.share(name, budget * TIMES, seed, number, count)

    found = _together(in_workers(work))
    counted.add(found.cases, failed=len(found.lost) + len(found.wrong))
    print(found.told(name))
    note({"act": name, **found._asdict()})
    if not found.stops:
        raise GateBroken(f"{name}: the act makes no call that counts")
    if not found.saved + found.refused:
        raise GateBroken(f"{name}: no writer was able to save")
    if found.missed * 2 > found.cases:
        raise GateBroken(f"{name}: {found.missed} of {found.cases} stops were never reached")
    return found


def holds(name: str, found: Outcome) -> None:
    """Raise GateFailed if a token was lost or an act was left half done."""
    if found.lost or found.wrong:
        raise GateFailed(found.told(name), (*found.lost, *found.wrong))


def _together(shares: Sequence[Outcome]) -> Outcome:
    return Outcome(
        stops=shares[0].stops,
        cases=sum(each.cases for each in shares),
        saved=sum(each.saved for each in shares),
        refused=sum(each.refused for each in shares),
        missed=sum(each.missed for each in shares),
        lost=tuple(text for each in shares for text in each.lost),
        wrong=tuple(text for each in shares for text in each.wrong),
    )


def chosen(shots: Sequence[Shot], budget: int, seed: int) -> list[Shot]:
    """A sample: half of it at calls about the writer's own file, a quarter before any was moved."""
    about = [shot for shot in shots if _is_about(shot)]
    early = [shot for shot in shots if shot.stop.stage is Stage.EARLY]
    other = [shot for shot in shots if not _is_about(shot) and shot.stop.stage is not Stage.EARLY]
    rest = budget // 2
    parts = ((early, rest // 2), (other, rest - rest // 2))
    found = [shot for part, count in parts if count or EVERY for shot in sample(part, count, seed)]
    return [*sample(about, budget - len(found), seed), *found]


def can_save(shot: Shot) -> bool:
    """Whether the writer is able to save at that stop, as far as the undisturbed act tells."""
    if shot.way in (Way.APPEND, Way.MAP):
        return True
    there = shot.stop.there
    is_free = shot.way is not Way.CREATE or shot.target not in there
    return is_free and os.path.dirname(shot.target) in there


def _is_about(shot: Shot) -> bool:
    return any(
        name == shot.target or name == "." or shot.target.startswith(f"{name}/")
        for name in shot.stop.names
    )


class _Range:
    """One worker's cases of one act."""

    def __init__(self, arena: Arena, moving: MovingAct, *, by_git: bool) -> None:
        self.arena, self.moving, self.by_git = arena, moving, by_git
        self.saved = self.refused = self.missed = 0
        self.lost: list[str] = []
        self.wrong: list[str] = []

    def share(self, name: str, budget: int, seed: int, number: int, count: int) -> Outcome:
        self.arena.prepare(self.moving.setup)
        stops = self._enumerate()
        every = [Shot(stop, way, path) for stop in stops for way, path in self._targets()]
        shots = chosen(list(filter(can_save, every)), budget, seed + zlib.crc32(name.encode()))
        for shot in shots[number::count]:
            self._case(shot)
        return Outcome(
            stops=sum(stop.stage is not Stage.EARLY for stop in stops),
            cases=len(shots[number::count]),
            saved=self.saved,
            refused=self.refused,
            missed=self.missed,
            lost=tuple(self.lost),
            wrong=tuple(self.wrong),
        )

    def _enumerate(self) -> list[Stop]:
        """The stops of the act that nobody disturbs; it must end well."""
        self.arena.fresh()
        self.root = self.moving.root(self.arena.case)
        self.files_before, self.refs_before = files_below(self.root), self._refs()
        undisturbed = self._run()
        ending = undisturbed.ending
        if ending.status != 0 or ending.timed_out:
            raise GateBroken(f"undisturbed: {ending}: {self.arena.said()}")
        self.files_after = files_below(self.root)
        if self.files_after == self.files_before:
            raise GateBroken("undisturbed: the act changes nothing")
        return undisturbed.stops

    def _targets(self) -> list[tuple[Way, str]]:
        moving = self.moving
        names = filter(None, (*moving.rewrites, *moving.leaves, *moving.makes))
        found = [
            (way, name)
            for name in dict.fromkeys(names)
            for way in (_ON_WHAT_IS_THERE if name in self.files_before else _ON_WHAT_COMES)
        ]
        if moving.leaves.inner:
            found.append((Way.CREATE, f"{os.path.dirname(moving.leaves.inner)}/another"))
        return found

    def _run(self, shot: Shot | None = None, token: bytes = b"") -> AimedRun:
        names = {name for _, name in self._targets()}
        watched = sorted({*names, *map(os.path.dirname, names)})
        return AimedRun(self.arena, self.root, watched).run(self.moving.command, shot, token)

    def _case(self, shot: Shot) -> None:
        self.arena.fresh()
        token = f"<{hashlib.sha256(str(shot).encode()).hexdigest()[:32]}>"
        done = self._run(shot, token.encode())
        told = self.arena.stdout.read_text("utf-8", "replace") + self.arena.complaints()
        self.saved += done.saved is Saved.DONE
        self.missed += done.saved is Saved.NOT_YET and done.ending.status == 0
        self.refused += done.ending.status != 0
        wrong = None if self.by_git else self._misbehaved(done, shot.target)
        if wrong:
            self.wrong.append(f"{shot}\n    {wrong}")
        where = None
        if done.saved is Saved.DONE:
            where = lost(self.arena.case, self.root / shot.target, self.root, token, told)
        if where:
            status = done.ending.status
            self.lost.append(f"{shot}\n    {where}; exit {status}, and it said:\n{told}")
        if wrong or where:
            self.arena.keep(token.strip("<>")[:8])

    def _misbehaved(self, done: AimedRun, target: str) -> str | None:
        complaints, status = self.arena.complaints(), done.ending.status
        if done.ending.timed_out or done.saved is Saved.HUNG:
            return "the writer hung" if done.saved is Saved.HUNG else "it hung"
        if any(sign in complaints for sign in BUGS):
            return f"a traceback instead of a message:\n{complaints[-1200:]}"
        now = _but(files_below(self.root), target)
        is_done = now == _but(self.files_after, target)
        is_as_before = now == _but(self.files_before, target) and self._refs() == self.refs_before
        if not is_done and (status == 0 or not is_as_before):
            wanted = _but(self.files_after if status == 0 else self.files_before, target)
            differ = sorted({path for path, _ in now.items() ^ wanted.items()})
            return f"exit {status}, and half done: {differ or 'refs'}: {complaints[-800:]}"
        return self.arena.verdict(_next_commands_work, [])

    def _refs(self) -> tuple[str, ...]:
        """Branches, and what each checkout has as its HEAD."""
        case = self.arena.case
        listed = must(case, Command(argv=("git", "for-each-ref", "refs/heads"), cwd="{case}/repo"))
        heads = [case / "repo/.git/HEAD", *case.glob("repo/.git/worktrees/*/HEAD")]
        return (listed.stdout, *(head.read_text() for head in heads))


def files_below(root: Path) -> dict[str, tuple[str, bytes]]:
    """Every file and link below a directory, but git's; empty where there is no directory."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [each for each in folders if each != ".git"]
        for name in names:
            path = os.path.join(folder, name)
            mode = os.lstat(path).st_mode
            content = b""
            if stat.S_ISLNK(mode):
                content = os.readlink(path).encode()
            elif stat.S_ISREG(mode):
                content = Path(path).read_bytes()
            if name != ".git":
                found[os.path.relpath(path, root)] = (stat.filemode(mode), content)
    return found


def _but(files: Mapping[str, tuple[str, bytes]], target: str) -> dict[str, tuple[str, bytes]]:
    """The files without the writer's own, and what else is in a directory that comes or goes."""
    folder = os.path.dirname(target)
    return {
        path: told
        for path, told in files.items()
        if path != target and not (folder and path.startswith(f"{folder}/"))
    }


def _next_commands_work(case: Path, _promises: list[str]) -> None:
    act(case, "status")
    act(case, "doctor")
    assert act(case, "doctor", "--check").stdout == "everything agrees\n"
    locks = [str(path.relative_to(case)) for path in (case / "repo/.git").rglob("*.lock")]
    assert locks == []
