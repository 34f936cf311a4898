"""What became of what was on its way when an agent ended: its own record says."""

import time
from contextlib import suppress

from siding.agents.talking.abilities import Evidence
from siding.agents.talking.port import Hold, Proof, Sent, Talking
from siding.chat.machine import Machine
from siding.chat.store import Chat
from siding.chat.talk import Talk, Waiting
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


def on_their_way(talk: Talk) -> list[Waiting]:
    """Return the prompts of which only the agent's record says whether they were taken.

    That it says so itself is no proof: Claude Code does 0.1 s before it writes it down. But what
    has been acted on was taken.
    """
    sent = talk.sent
    is_done = sent is None or (talk.is_taken and talk.is_answered)
    return [*talk.steered] if sent is None or is_done else [sent, *talk.steered]


def settle(machine: Machine, chat: Chat, talking: Talking, hold: Hold, reason: str) -> None:
    """Find out what became of prompts that were on their way, and note the turn as cut off."""
    open_ones = on_their_way(machine.talk)
    if open_ones:
        time.sleep(talking.settles_s)
    found = [(each, _proof(machine, chat, talking, hold, each)) for each in open_ones]
    for each, proof in found:
        is_told = proof is Proof.TAKEN and _says_so(machine.talk, each)
        if proof is not Proof.NOT_TAKEN and not is_told:
            machine.proven(each.prompt, proof)
    for each, proof in reversed(found):  # each comes back at the head of what waits
        if proof is Proof.NOT_TAKEN:
            machine.proven(each.prompt, proof)
    machine.cut_off(reason)


def _proof(machine: Machine, chat: Chat, talking: Talking, hold: Hold, sent: Waiting) -> Proof:
    talk = machine.talk
    words = sent.said(chat.prompt(sent.prompt))
    before = talk.taken - _says_so(talk, sent)
    try:
        found = talking.proof(Sent(sent.prompt, words, before, talk.session), hold)
    except (OSError, ValueError, SidingError):
        found = Proof.UNSURE  # a record that cannot be read proves nothing
    # Without ids an agent says that it has a prompt by its first word to it.
    if (
        found is Proof.UNSURE
        and _says_so(talk, sent)
        and talking.abilities.evidence is not Evidence.ID
    ):
        return Proof.TAKEN
    return found


def _says_so(talk: Talk, sent: Waiting) -> bool:
    return sent is talk.sent and talk.is_taken
