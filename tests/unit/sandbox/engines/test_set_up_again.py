"""A sandbox whose masks are gone when bwrap comes to them: it is set up again without them."""

from pathlib import Path
from shutil import which

import pytest

from siding.ground.process.command import Command, Ending, SpawnPlan
from siding.ground.process.lookup import Program
from siding.ground.process.ports import Child
from siding.ground.process.side import RunSandbox
from siding.sandbox.engines.start import Sandboxed
from siding.sandbox.engines.values import BindMount, Engine, Kind, Launch, Network, View
from unit.ground.process.world import Place


class Vanishing(Sandboxed):
    """A sandbox beside a server that removes a socket, or a directory, after each look at them."""

    sockets: tuple[Path, ...] = ()
    removed = 0

    def spawn_plan(self, command: Command, program: Program, *, tty: bool) -> SpawnPlan:
        plan = super().spawn_plan(command, program, tty=tty)
        if self.removed < len(self.sockets):
            gone = self.sockets[self.removed]
            gone.rmdir() if gone.is_dir() else gone.unlink()
            self.removed += 1
        return plan


def vanishing(place: Place, count: int) -> Vanishing:
    bwrap, setsid = which("bwrap"), which("setsid")
    if bwrap is None or setsid is None:
        pytest.skip("there is no bwrap")
    sockets = tuple(place.folder / f"{number}.sock" for number in range(count))
    for number, socket in enumerate(sockets):
        socket.mkdir() if number % 2 else socket.touch()
    made = Vanishing(
        Launch(
            engine=Engine.BWRAP,
            # Shown, since it may lie below /dev, of which bwrap makes a new one.
            view=View(
                mounts=(
                    BindMount(Kind.SHOW, str(place.folder)),
                    *(
                        BindMount(Kind.BLANK if path.is_dir() else Kind.MASK, str(path))
                        for path in sockets
                    ),
                )
            ),
            network=Network.OFF,
            seccomp=b"",
            setsid=setsid,
            program=bwrap,
        )
    )
    made.sockets = sockets
    return made


@pytest.mark.parametrize("count", [0, 1, 2])
def test_it_is_set_up_again(place: Place, count: int) -> None:
    sandboxed = vanishing(place, count)
    run = place.run("echo", "ran", sandbox=RunSandbox(sandboxed=sandboxed))
    sandboxed.close()
    assert (run.outcome.ending, run.outcome.exit_code) == (Ending.EXITED, 0)
    assert run.shown == b"ran\n"
    assert sandboxed.removed == count


def test_not_for_ever(place: Place) -> None:
    sandboxed = vanishing(place, 9)
    run = place.run("echo", "ran", sandbox=RunSandbox(sandboxed=sandboxed))
    sandboxed.close()
    assert (run.outcome.ending, run.outcome.exit_code) == (Ending.NOT_STARTED, 126)
    assert sandboxed.removed == 3


def test_another_failure_is_told_at_once(place: Place) -> None:
    sandboxed = vanishing(place, 0)
    sandboxed.launch = sandboxed.launch._replace(
        view=View(mounts=(BindMount(Kind.WRITE, "/nonexistent", "/nonexistent"),))
    )
    started: list[Child] = []
    run = place.run(
        "echo", "ran", sandbox=RunSandbox(sandboxed=sandboxed), on_started=started.append
    )
    sandboxed.close()
    assert run.outcome.ending is Ending.NOT_STARTED
    assert len(started) == 1
