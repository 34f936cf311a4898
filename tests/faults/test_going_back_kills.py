"""The host of a conversation is killed while its agent goes back: at each of many moments.

Once it has gone on, the agent knows what stands and nothing else; the old conversation is whole.

SIDING_FAULTS_TIMES has all moments.
"""

import os
import random
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from integration.chat.talks import Conversation, conversation
from sandbox import Sandbox
from siding.chat.requests import GivePrompt, Requests
from stories import PATIENCE_S

HOST = Path(__file__).parent / "chat" / "host.py"
SEED = int(os.environ.get("SIDING_FAULTS_SEED", "1"))
TIMES = int(os.environ.get("SIDING_FAULTS_TIMES", "0"))
MOST = 400  # moments; there are fewer
# In the suite one of each: as it is decided, as the copy begins, as a prompt goes there.
SAMPLED = ((8, 25), (30, 60), (60, 90))
pytestmark = pytest.mark.timeout(3600 if TIMES else 300)


class Killed(Conversation):
    """A conversation of two turns that wrote a file each; nobody holds it between trials."""

    def prepare(self) -> None:
        self.begin("edit a a")
        self.allow(1)
        self.says("send", "edit b b")
        self.allow(2)
        self.end()

    def allow(self, number: int) -> None:
        self.until(lambda: len(self.events("put")) == number)
        self.sandbox.siding("decide", "answer", "--choose", "1=run")
        self.recorded(number)

    def asked(self, moment: int) -> str:
        """Ask what it knows; kill its host at a moment, and have others go on. Return which it
        was, "" if the host had none such."""
        reached = self.sandbox.directory / "reached"
        reached.unlink(missing_ok=True)
        prompt = str(uuid.uuid4())
        (chat,) = self.sandbox.project.glob("tasks/*/chats/c1")
        requests = Requests(chat / "asked")
        requests.put(GivePrompt(prompt, "recall"), by="trial", at_ns=time.time_ns(), more="trial")
        self.host(chat, moment, reached)
        end = time.monotonic() + PATIENCE_S
        while not self.is_through(chat):
            assert time.monotonic() < end, (self.row, [*map(str, self.story[-14:])])
            for each in self.row["unsure"]:  # of this trial, or of the one before
                self.sandbox.siding("chat", "again", each["prompt"], status=None)
            if self.row["state"] == "ended":
                self.host(chat, 0, reached)
        self.end()
        return reached.read_text() if reached.exists() else ""

    def is_through(self, chat: Path) -> bool:
        """Tell whether the prompt was taken, and its turn is over: done, or cut off."""
        row = self.row
        waits = row["queue"] or [*(chat / "asked").iterdir()]
        return row["state"] in ("idle", "ended") and not waits

    def host(self, chat: Path, moment: int, reached: Path) -> None:
        """Have a host, and wait until it holds the agent or is killed."""
        words = [str(HOST), chat.parent.parent.name, str(chat), str(moment), str(reached)]
        subprocess.run(
            [sys.executable, *words],
            cwd=self.sandbox.repo,
            env=dict(self.sandbox.env),
            check=False,
            capture_output=True,
            timeout=PATIENCE_S,
        )

    def known(self) -> list[list[str]]:
        """Return what it has said that it knows of the first two turns, each time."""
        lines = [each for each in self.text().splitlines() if each.startswith("I know: ")]
        named = [line.removeprefix("I know: ").split(", ") for line in lines]
        return [[each for each in line if each.startswith("edit ")] for line in named]


def moments() -> list[int]:
    if TIMES:
        return list(range(1, MOST))
    dice = random.Random(SEED)
    return [dice.randint(*each) for each in SAMPLED]


def test_it_knows_what_stands_after_a_kill_at_any_moment(sandbox: Sandbox) -> None:
    with conversation(sandbox) as begun:
        talk = Killed(begun.sandbox)
        talk.prepare()
        reached = []
        for moment in moments():
            sandbox.siding("rollback", "--step", "1")
            reached.append(talk.asked(moment))
            talk.asked(0)  # the turn before may have been cut off
            assert talk.known()[-1] == ["edit a a"], (moment, reached[-1])
            sandbox.siding("rollback", "--step", "2")
            talk.asked(0)
            assert talk.known()[-1] == ["edit a a", "edit b b"], (moment, reached[-1])
            if not reached[-1]:
                break
        print(f"killed {len([*filter(None, reached)])} times: {reached}")
        assert any(reached)
        assert not talk.events("not-back")
        sandbox.siding("verify")
