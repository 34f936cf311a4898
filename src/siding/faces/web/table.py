"""The table of the dashboard: the addresses of all pages, of their pieces and of the API, and the
topics of the live stream.

What an address shows is in the module or the folder of its feature, its template in `templates`.
"""

from collections.abc import Callable

from siding.faces.web import acts, feed, phases, running, sessions, tasks
from siding.faces.web.asking import decisions as asking
from siding.faces.web.asking.devices import DeviceMay
from siding.faces.web.live import ProjectFollower, TopicKind
from siding.faces.web.openapi import (
    ACT,
    ANSWER,
    CANCEL,
    CODE,
    DECISION,
    DECISION_CODE,
    NUMBER,
    PLAN,
    RUN_ACT,
    RUN_CODE,
    START,
    STEP,
    STOP,
    TASK,
    WINDOW,
    WISH,
    WORKFLOW_RUN,
    Operation,
    array,
    obj,
)
from siding.faces.web.record import pages, patches
from siding.faces.web.record import pages as record
from siding.faces.web.rendering import Page
from siding.faces.web.request import Ask
from siding.faces.web.workflows import pages as workflows
from siding.faces.web.workflows.following import RunFollower, RunsFollower, names_run

Handler = Callable[[Ask], Page | str]
PAGES: dict[str, Handler] = {
    "/": feed.board,
    "/tasks/{task}": tasks.task,
    "/tasks/{task}/changes": record.changes,
    "/tasks/{task}/steps/{step}": record.step,
    "/decisions": asking.listed,
    "/decisions/{decision}": asking.one,
    "/workflows": workflows.listed,
    "/workflows/{run}": workflows.one,
    "/workflows/{run}/agents/{agent}": workflows.agent,
    "/inbox": feed.inbox,
    "/phases": phases.phases,
    "/sessions": sessions.listed,
    "/sessions/{session}": sessions.one,
    "/events": record.events,
    "/disk": tasks.disk,
}
# Pages that are made once for all browsers. The live stream changes the page of a run in place, and
# one that was made a moment earlier would undo that.
SHARED = frozenset(path for path in PAGES if not path.startswith("/workflows"))
PIECES: dict[str, Handler] = {
    "/totals": feed.totals,
    "/new-task": tasks.new_task,
    "/tasks/{task}/plan": acts.plan_page,
    "/workflow-script": workflows.script,
    "/workflows/{run}/act": workflows.act_form,
    "/workflows/{run}/script": workflows.script_of_run,
    "/tasks/{task}/changes/files": patches.files,
    "/tasks/{task}/changes/rows": patches.rows,
    "/tasks/{task}/steps/{step}/output": pages.output,
    "/tasks/{task}/steps/{step}/files": patches.files,
    "/tasks/{task}/steps/{step}/rows": patches.rows,
}
TOPICS: dict[str, TopicKind] = {
    "project": TopicKind(ProjectFollower),
    "output": TopicKind(pages.OutputFollower, pages.names_output),
    "workflows": TopicKind(RunsFollower),
    "workflow": TopicKind(RunFollower, names_run),
}

_STREAM = {"type": "string", "enum": ["stdout", "stderr"], "default": "stdout"}
OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "GET", "/project", "The project this dashboard shows", obj(name="string"), feed.project_json
    ),
    Operation(
        "GET",
        "/tasks",
        "The board, and the open questions on none of its tasks",
        obj(tasks=array(TASK), questions=array(obj(what="string", path="string"))),
        feed.tasks_json,
    ),
    Operation("POST", "/tasks", "Start a task", TASK, write=tasks.start, body=START),
    Operation("GET", "/tasks/{task}", "One task", TASK, tasks.task_json),
    Operation(
        "POST",
        "/tasks/{task}/switch",
        "Make it the active task",
        TASK,
        write=tasks.switch,
        body=obj(),
    ),
    Operation(
        "GET",
        "/tasks/{task}/steps",
        "Its steps, newest first",
        obj(steps=array(STEP)),
        record.steps_json,
        query={"before": NUMBER, "limit": NUMBER},
    ),
    Operation(
        "GET", "/tasks/{task}/steps/{step}", "One step as its ledger line", STEP, record.step_json
    ),
    Operation(
        "GET",
        "/tasks/{task}/steps/{step}/output",
        "A window of what it printed",
        WINDOW,
        pages.output_json,
        query={"stream": _STREAM, "at": NUMBER, "size": NUMBER},
    ),
    Operation(
        "GET",
        "/tasks/{task}/steps/{step}/files",
        "The files of its patch",
        obj(files=array(obj(name="string"))),
        patches.files_json,
    ),
    Operation(
        "POST",
        "/tasks/{task}/plan",
        "What an act would do; nothing is changed",
        PLAN,
        write=acts.plan_json,
        body=WISH,
        device=DeviceMay.READ,
    ),
    Operation(
        "POST",
        "/tasks/{task}/code",
        "Show the code of an act in the terminal",
        obj(shown="boolean"),
        write=acts.code,
        body=CODE,
        device=DeviceMay.READ,
    ),
    Operation(
        "POST",
        "/tasks/{task}/act",
        "Do what was planned, with its code",
        obj(said="string"),
        write=acts.act,
        body=ACT,
        device=DeviceMay.READ,
    ),
    Operation(
        "GET",
        "/decisions",
        "The decisions that are open, or all",
        obj(decisions=array(DECISION)),
        asking.listed_json,
        query={"all": {"type": "integer", "minimum": 0, "maximum": 1}},
    ),
    Operation("GET", "/decisions/{decision}", "One decision", DECISION, asking.one_json),
    Operation(
        "POST",
        "/decisions/{decision}/code",
        "Show the code of an answer or of a cancellation in the terminal",
        obj(shown="boolean"),
        write=asking.code,
        body=DECISION_CODE,
        device=DeviceMay.READ,
    ),
    Operation(
        "POST",
        "/decisions/{decision}/answer",
        "Answer it; the first answer wins; one that opens a gate takes its code, or a signature",
        DECISION,
        write=asking.answer,
        body=ANSWER,
        device=DeviceMay.SIGN,
    ),
    Operation(
        "POST",
        "/decisions/{decision}/cancel",
        "Say that nobody will answer it, with its code, or a signature",
        DECISION,
        write=asking.cancel,
        body=CANCEL,
        device=DeviceMay.SIGN,
    ),
    Operation(
        "GET",
        "/runs",
        "The runs that live",
        obj(runs=array(obj(run="string", task="string"))),
        running.listed,
    ),
    Operation(
        "POST",
        "/tasks/{task}/runs/{run}/code",
        "Show the code that stops a run in the terminal",
        obj(shown="boolean"),
        write=running.code,
        body=obj(),
        device=DeviceMay.READ,
    ),
    Operation(
        "POST",
        "/tasks/{task}/runs/{run}/stop",
        "End a run with everything it started, with its code, or a signature",
        obj(run="string"),
        write=running.stop,
        body=STOP,
        device=DeviceMay.SIGN,
    ),
    Operation(
        "GET",
        "/workflows",
        "The runs of workflows, and the workflows there are",
        obj(
            runs=array(obj(run_id="string", name="string", status="string")),
            workflows=array(obj(name="string", origin="string", is_trusted="boolean")),
        ),
        workflows.listed_json,
    ),
    Operation("GET", "/workflows/{run}", "A run with its agents", WORKFLOW_RUN, workflows.one_json),
    Operation(
        "POST",
        "/workflows/{run}/code",
        "Show the code of an act on a run, or on an agent of it, in the terminal",
        obj(shown="boolean"),
        write=workflows.code,
        body=RUN_CODE,
        device=DeviceMay.READ,
    ),
    Operation(
        "POST",
        "/workflows/{run}/act",
        "End or resume a run; skip, begin again or end an agent: with its code, or a signature",
        obj(run="string", act="string"),
        write=workflows.act,
        body=RUN_ACT,
        device=DeviceMay.SIGN,
    ),
    Operation(
        "GET",
        "/inbox",
        "What waits for a person, in every project",
        obj(entries=array(obj(title="string")), quiet="boolean", after_s="number"),
        feed.inbox_json,
    ),
    Operation(
        "POST",
        "/inbox/told",
        "Take it on to tell the person of something that waits, which nobody tells twice",
        obj(first="boolean"),
        write=feed.told,
        body=obj(id="string"),
        device=DeviceMay.READ,
    ),
    Operation(
        "GET",
        "/phases",
        "Where tasks stand in their process",
        obj(phases=array(obj(task_id="string"))),
        phases.phases_json,
    ),
    Operation(
        "GET",
        "/events",
        "The newest events",
        obj(events=array(obj())),
        record.events_json,
        query={"limit": NUMBER},
    ),
    Operation(
        "GET",
        "/disk",
        "What tasks use on disk, in bytes",
        obj(tasks=array(obj(id="string")), store="integer"),
        tasks.disk_json,
    ),
    Operation(
        "GET",
        "/sessions",
        "The conversations",
        obj(sessions=array(obj(id="string"))),
        sessions.sessions_json,
    ),
)
