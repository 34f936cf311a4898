"""The table of the API's operations; routes and the OpenAPI document are made from it."""

from collections.abc import Callable, Mapping
from typing import Any

from siding.faces.web.api import decisions, reads, runs, workflows, writes
from siding.faces.web.api.reading import Fields
from siding.faces.web.api.schemas import (
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
    array,
    obj,
)
from siding.faces.web.ask import Ask
from siding.faces.web.signing import DeviceMay
from siding.ground.namedtuples import NamedTuple

Read = Callable[[Ask], dict[str, Any]]
Write = Callable[[Ask, Fields], dict[str, Any]]


class Operation(NamedTuple):
    """One operation, with either `read` or `write`.

    `query` maps parameters to schemas; `body` and `answer` are schemas. `device` says whether a
    paired device may do what it writes; nothing else than this table lets one do anything.
    """

    method: str
    path: str
    summary: str
    answer: Mapping[str, Any]
    read: Read | None = None
    write: Write | None = None
    query: Mapping[str, Mapping[str, Any]] = {}
    body: Mapping[str, Any] | None = None
    device: DeviceMay = DeviceMay.NEVER


_STREAM = {"type": "string", "enum": ["stdout", "stderr"], "default": "stdout"}

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "GET", "/project", "The project this dashboard shows", obj(name="string"), reads.project
    ),
    Operation(
        "GET",
        "/tasks",
        "The board, and the open questions on none of its tasks",
        obj(tasks=array(TASK), questions=array(obj(what="string", path="string"))),
        reads.tasks,
    ),
    Operation("POST", "/tasks", "Start a task", TASK, write=writes.start, body=START),
    Operation("GET", "/tasks/{task}", "One task", TASK, reads.task),
    Operation(
        "POST",
        "/tasks/{task}/switch",
        "Make it the active task",
        TASK,
        write=writes.switch,
        body=obj(),
    ),
    Operation(
        "GET",
        "/tasks/{task}/steps",
        "Its steps, newest first",
        obj(steps=array(STEP)),
        reads.steps,
        query={"before": NUMBER, "limit": NUMBER},
    ),
    Operation("GET", "/tasks/{task}/steps/{step}", "One step as its ledger line", STEP, reads.step),
    Operation(
        "GET",
        "/tasks/{task}/steps/{step}/output",
        "A window of what it printed",
        WINDOW,
        reads.output,
        query={"stream": _STREAM, "at": NUMBER, "size": NUMBER},
    ),
    Operation(
        "GET",
        "/tasks/{task}/steps/{step}/files",
        "The files of its patch",
        obj(files=array(obj(name="string"))),
        reads.files,
    ),
    Operation(
        "POST",
        "/tasks/{task}/plan",
        "What an act would do; nothing is changed",
        PLAN,
        write=writes.plan,
        body=WISH,
        device=DeviceMay.READ,
    ),
    Operation(
        "POST",
        "/tasks/{task}/code",
        "Show the code of an act in the terminal",
        obj(shown="boolean"),
        write=writes.code,
        body=CODE,
        device=DeviceMay.READ,
    ),
    Operation(
        "POST",
        "/tasks/{task}/act",
        "Do what was planned, with its code",
        obj(said="string"),
        write=writes.act,
        body=ACT,
        device=DeviceMay.READ,
    ),
    Operation(
        "GET",
        "/decisions",
        "The decisions that are open, or all",
        obj(decisions=array(DECISION)),
        decisions.listed,
        query={"all": {"type": "integer", "minimum": 0, "maximum": 1}},
    ),
    Operation("GET", "/decisions/{decision}", "One decision", DECISION, decisions.one),
    Operation(
        "POST",
        "/decisions/{decision}/code",
        "Show the code of an answer or of a cancellation in the terminal",
        obj(shown="boolean"),
        write=decisions.code,
        body=DECISION_CODE,
        device=DeviceMay.READ,
    ),
    Operation(
        "POST",
        "/decisions/{decision}/answer",
        "Answer it; the first answer wins; one that opens a gate takes its code, or a signature",
        DECISION,
        write=decisions.answer,
        body=ANSWER,
        device=DeviceMay.SIGN,
    ),
    Operation(
        "POST",
        "/decisions/{decision}/cancel",
        "Say that nobody will answer it, with its code, or a signature",
        DECISION,
        write=decisions.cancel,
        body=CANCEL,
        device=DeviceMay.SIGN,
    ),
    Operation(
        "GET",
        "/runs",
        "The runs that live",
        obj(runs=array(obj(run="string", task="string"))),
        runs.listed,
    ),
    Operation(
        "POST",
        "/tasks/{task}/runs/{run}/code",
        "Show the code that stops a run in the terminal",
        obj(shown="boolean"),
        write=runs.code,
        body=obj(),
        device=DeviceMay.READ,
    ),
    Operation(
        "POST",
        "/tasks/{task}/runs/{run}/stop",
        "End a run with everything it started, with its code, or a signature",
        obj(run="string"),
        write=runs.stop,
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
        workflows.listed,
    ),
    Operation("GET", "/workflows/{run}", "A run with its agents", WORKFLOW_RUN, workflows.one),
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
        obj(entries=array(obj(title="string")), quiet="boolean"),
        decisions.inbox,
    ),
    Operation(
        "GET",
        "/phases",
        "Where tasks stand in their process",
        obj(phases=array(obj(task_id="string"))),
        decisions.phases,
    ),
    Operation(
        "GET",
        "/events",
        "The newest events",
        obj(events=array(obj())),
        reads.events,
        query={"limit": NUMBER},
    ),
    Operation(
        "GET",
        "/disk",
        "What tasks use on disk, in bytes",
        obj(tasks=array(obj(id="string")), store="integer"),
        reads.disk,
    ),
    Operation(
        "GET",
        "/sessions",
        "The conversations",
        obj(sessions=array(obj(id="string"))),
        reads.sessions,
    ),
)
