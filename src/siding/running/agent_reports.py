"""Have the agent of a run report: what it is told for this run, and what it has said at the end.

An agent that goes on with a conversation goes on without the turns that were taken back. A question
whether it may do something waits for a person as long as `patience` says.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

from siding import __version__
from siding.agents.hooks import NEWEST, Adapter, Injection, Past, PastTurn, Reach, adapter_of
from siding.asking.devices.store import DeviceStore
from siding.ground.errors import SidingError, UsageError
from siding.ground.files.attributes import only_root_writes
from siding.ground.files.durable import create_bytes
from siding.ground.namedtuples import NamedTuple
from siding.ground.process.broker import client
from siding.ground.process.broker.place import SOCKET_VARIABLE, past_beside, settings_beside
from siding.ground.process.command import Command
from siding.ground.storage.layout import TaskLayout
from siding.guard.in_force import is_judged
from siding.record.acts.skeleton import Work
from siding.record.ledger.draft import Draft
from siding.record.ledger.reports import AgentReport
from siding.record.ledger.run_details import RunDetail
from siding.record.ledger.turns import ReportedTurn, reported_turns
from siding.record.place.project import Project
from siding.record.place.quantities import seconds_in
from siding.record.place.wiring import App
from siding.record.runs.reported import Reported, read_reported, title_of
from siding.record.runs.run import Run
from siding.running.request import Reporting, RunRequest
from siding.usage.brief import used_in

_PATIENCE = "20h"  # both agents wait for a tool as long as they are told to
_ALONE = (sys.executable, "-S", "-E", "-I")
_PROGRAM = str(Path(client.__file__).with_name("hook.py"))
_FRONT = str(Path(client.__file__).with_name("tools_front.py"))
_KNOWN = str(Path(__file__).parents[1] / "broker" / "known_tools.json")
_FOLLOW = str(Path(client.__file__).with_name("follow.py"))
AUTO, WAIT, DENY = "auto", "wait", "deny"
NOBODY_S = 60.0  # where nobody is known to be there, an agent does not stand still unseen for long


def reporting(
    work: Work,
    request: RunRequest,
    name: str,
    command: Command,
    *,
    is_sandboxed: bool,
    holds: bool,
) -> Reporting | None:
    """Return how the agent with this name reports; None if it cannot, or is not to.

    "" is the name of a command that is no agent. `holds`: a limit may keep it waiting.

    Raises UsageError if its commands have to be judged and cannot be.
    """
    project = work.project
    wanted = request.judge or project.settings.agents_judge
    broker = command.env.get(SOCKET_VARIABLE, "")
    adapter = adapter_of(name) if name else None
    is_on = request.reports and project.settings.agents_report and bool(broker)
    if adapter is None or not is_on:
        if request.judge == "require" or (wanted == "require" and name):
            raise _cannot_judge(
                "it is no agent that can be told to report" if is_on else "it is not to report"
            )
        return None
    judges = wanted != "off" and is_judged(project, name)
    if wanted == "require" and not judges:
        raise _cannot_judge("no policy is switched on")
    reach = Reach(
        # Agents start it by a shell, which a signal to all would end before the program can say no.
        program=("exec", *_ALONE, _PROGRAM, name),
        follow=(*_ALONE, _FOLLOW, name),
        judges=judges or holds,
        holds=holds,
        requires=wanted == "require",
        calls=project.settings.agents_steps == "call",
        tools=_tools(project),
        socket=broker,
        read=lambda name: (command.cwd / name).read_text(encoding="utf-8"),
        env=command.env,
        settings=str(settings_beside(broker)),
        sessions=str(project.layout.root / "sessions"),
        of_root=lambda name: only_root_writes(str(command.cwd / name)),
    )
    goes_on = resumed(work, adapter, command, is_sandboxed=is_sandboxed)
    found = _with_settings(adapter.injected(goes_on.argv, reach), goes_on.argv, reach)
    if (found.why_not or found.unjudged) and wanted == "require":
        raise _cannot_judge(found.why_not or found.unjudged)
    judged = wanted if judges and not (found.why_not or found.unjudged) else "off"
    asks = patience(project, request) if judges else None
    return Reporting(
        found.argv,
        judged,
        found.why_not,
        goes_on.note,
        found.env,
        copy_of=goes_on.copy_of,
        without=goes_on.without,
        ask_s=asks,
    )


def _with_settings(found: Injection, argv: tuple[str, ...], reach: Reach) -> Injection:
    """Write the settings that the agent needs for this run; without them it does not report."""
    if not found.settings:
        return found
    try:
        create_bytes(Path(reach.settings), found.settings.encode())
    except OSError as error:
        return Injection(argv, why_not=f"its settings cannot be written: {error.strerror}")
    return found


def _tools(project: Project) -> tuple[str, ...]:
    """Return the command line of the server of an agent's tools; () without the library for it.

    It begins with what answers for it until a tool is used.
    """
    if not project.settings.agents_tools or find_spec("mcp") is None:
        return ()
    server = (sys.executable, "-m", "siding", "-q", "mcp", "--patience", _PATIENCE)
    return (*_ALONE, _FRONT, _KNOWN, __version__, "--", *server)


def _cannot_judge(why: str) -> UsageError:
    return UsageError(
        f"the commands of this run must be judged, and cannot be: {why}",
        hint="--judge on judges what can be judged; `siding policy list` shows the policy",
    )


def with_reported(
    app: App, layout: TaskLayout, run: Run, draft: Draft, reports: Reporting | None
) -> Draft:
    """Return the draft with what the agent has reported, and a note if that was nothing."""
    found = read_reported(layout, run.id)
    detail = draft.detail
    assert isinstance(detail, RunDetail)
    said = () if found is None else (*found.limits, *found.notes)
    notes = (*detail.notes, *said)
    if found is None or found.is_nothing:
        found = Reported()
        why = (reports and reports.why_not) or "it has not said that it began"
        notes = (
            *notes,
            f"{run.agent} reported nothing ({why}): no turns, and no command was judged",
        )
    from siding.usage.of_run import with_used

    found = with_used(app, run, found)
    report = AgentReport(
        session=found.session,
        transcript=found.transcript,
        prompts=found.prompts,
        prompt=found.prompt if found.in_turn else "",
        judge="off" if reports is None else reports.judge,
        judged=found.judged,
        blocked=found.blocked,
        asked=found.asked,
    )
    return draft._replace(
        detail=detail._replace(reported=report, notes=notes, usage=used_in(found))
    )


class Resumed(NamedTuple):
    """The command line with which an agent goes on; `note` is empty if it is the one given."""

    argv: tuple[str, ...]
    note: str = ""
    copy_of: str = ""  # the conversation of which it is a copy
    without: str = ""  # the id of the first turn that the copy leaves out


def resumed(work: Work, adapter: Adapter, command: Command, *, is_sandboxed: bool) -> Resumed:
    """Return the command line that goes on with the conversation as far as its turns stand.

    Only a command line that goes on with a conversation costs anything. The command has a broker.
    """
    named = adapter.continues(command.argv)
    if named is None:
        return Resumed(command.argv)
    turns = [
        each
        for each in reported_turns(work.project.ledger(work.task.id).steps())
        if each.detail.turn and each.detail.transcript
    ]
    of_it = [each.detail for each in turns if named in (NEWEST, each.detail.session)]
    if not of_it or all(each.stands for each in turns):
        return Resumed(command.argv)
    past = Past(
        session=of_it[-1].session,
        transcript=Path(of_it[-1].transcript),
        turns=tuple(map(_past, turns)),
        copy=past_beside(command.env[SOCKET_VARIABLE]),
        env=command.env,
        cwd=command.cwd,
        is_sandboxed=is_sandboxed,
    )
    try:
        found = adapter.without(command.argv, past)
    except (SidingError, OSError) as error:
        return Resumed(command.argv, f"the conversation has turns that were taken back ({error})")
    if found is None:
        return Resumed(command.argv)
    prompt = title_of(next(e.detail.prompts for e in turns if e.detail.turn == found.first))
    note = f"its conversation went on from before {prompt!r}, taken back since"
    return Resumed(found.argv, note, past.session, found.first)


def _past(turn: ReportedTurn) -> PastTurn:
    detail = turn.detail
    later = detail.later_prompts
    return PastTurn(detail.turn, detail.prompt, Path(detail.transcript), turn.stands, later)


def patience(project: Project, request: RunRequest) -> float | None:
    """Return the seconds after which the answer is no; 0 at once, None never.

    What the run's command line says counts before the setting. `auto` waits if somebody is there:
    at the run's terminal, or with a paired device.
    """
    wanted = request.ask or project.settings.agents_ask
    if wanted != AUTO:
        return seconds_of(wanted)
    is_there = request.attended or (os.isatty(0) and os.isatty(2))
    is_there = is_there or bool(DeviceStore(project.app.home.devices_dir).ids())
    return None if is_there else NOBODY_S


def seconds_of(wanted: str) -> float | None:
    """Return what `wait`, `deny` or a time says. Raises UsageError."""
    if wanted == WAIT:
        return None
    found = 0.0 if wanted == DENY else seconds_in(wanted)
    if found is None:
        raise UsageError(f"--ask {wanted!r} is not a time", hint="wait, deny, or 90, 5m, 1h30m")
    return found
