"""What became of what was on its way when an agent ended: its own record says."""

import time
from contextlib import suppress

from siding.agents.talking.port import Hold, Proof, Sent, Talking
from siding.chat.machine import Machine
from siding.chat.state import Waiting
from siding.chat.store import Chat
from siding.ground.errors import NotFound, SidingError
from siding.record.place.project import Project
from siding.record.runs.store import Runs
from siding.record.tasks.task import Task
from siding.running.stop import stop


def end_run(project: Project, task: Task, run_id: str) -> None:
    """End a run that a killed host has left: an agent that lives writes into its record, too."""
    if any(each.id == run_id for each in Runs(project.task_layout(task.id)).live()):
        with suppress(NotFound):  # its keeper has ended it meanwhile
            stop(project, task.id, [run_id], now=True)


def settle(machine: Machine, chat: Chat, talking: Talking, hold: Hold, reason: str) -> None:
    """Find out what became of prompts that were on their way, and note the turn as cut off."""
    talk = machine.talk
    open_ones = [
        each
        for each in (talk.sent, *talk.steered)
        if each is not None and not (talk.sent is each and talk.is_taken)
    ]
    if open_ones:
        time.sleep(talking.settles_s)
    for each in open_ones:
        machine.proven(each.prompt, _proof(machine, chat, talking, hold, each))
    machine.cut_off(reason)


def _proof(machine: Machine, chat: Chat, talking: Talking, hold: Hold, sent: Waiting) -> Proof:
    words = sent.said(chat.prompt(sent.prompt))
    try:
        return talking.proof(
            Sent(sent.prompt, words, machine.talk.taken, machine.talk.session), hold
        )
    except (OSError, ValueError, SidingError):
        return Proof.UNSURE  # a record that cannot be read proves nothing
