"""What describes the API: its operations, the schemas of bodies and answers, the document."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from siding import __version__
from siding.faces.plans.acts import ACTS
from siding.faces.web.asking.devices import DeviceMay
from siding.faces.web.request import Ask, Fields
from siding.ground.namedtuples import NamedTuple
from siding.workflows.acts.from_dashboard import RunAct

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "hint": {"type": ["string", "null"]},
            },
        }
    },
}
_ABOUT = (
    "The dashboard's API. Every request needs the key of this start. Where a person is asked for, "
    "it needs a code of the terminal as well, or the signature of a paired device."
)
_STATUSES = {
    "400": "The request is not valid",
    "401": "The key is missing or wrong",
    "403": "A paired device may not do this, or its signature is not of this request",
    "404": "What the address names does not exist",
    "409": "The act is not possible now; nothing was changed",
}
Schema = dict[str, Any]
NUMBER: Schema = {"type": "integer", "minimum": 0, "maximum": 1 << 40}
_FLAG: Schema = {"type": "boolean", "default": False}
_TEXT_OR_NONE: Schema = {"type": ["string", "null"]}
_ANSWERS: Schema = {"type": "array", "items": {"type": "object"}}
_RUN_ACT: dict[str, Schema] = {
    "act": {"type": "string", "enum": [each.value for each in RunAct]},
    "agent": {"type": "integer", "minimum": 0, "maximum": 1 << 31},
}
Read = Callable[[Ask], dict[str, Any]]
Write = Callable[[Ask, Fields], dict[str, Any]]


def document(operations: Iterable["Operation"], prefix: str) -> dict[str, Any]:
    """Return the OpenAPI document of the operations; `prefix` goes before their paths."""
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        path = paths.setdefault(prefix + operation.path, {})
        path[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Siding",
            "version": __version__,
            "description": _ABOUT,
        },
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR},
        },
    }


def _operation(operation: "Operation") -> dict[str, Any]:
    found: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": _identifier(operation),
        "parameters": [*_path_parameters(operation.path), *_query_parameters(operation.query)],
        "responses": {"200": _response("Done", operation.answer)},
    }
    error = {"$ref": "#/components/schemas/Error"}
    for status, told in _STATUSES.items():
        found["responses"][status] = _response(told, error)
    if operation.body is not None:
        content = {"application/json": {"schema": operation.body}}
        found["requestBody"] = {"required": True, "content": content}
    return found


def _identifier(operation: "Operation") -> str:
    words = re.sub(r"[{}]", "", operation.path).strip("/").split("/")
    return "_".join([operation.method.lower(), *words])


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(query: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "query", "required": False, "schema": dict(schema)}
        for name, schema in query.items()
    ]


def _response(told: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"description": told, "content": {"application/json": {"schema": dict(schema)}}}


def obj(**properties: str | Schema) -> Schema:
    """Return the schema of an object with these required properties; it may have others."""
    known = {
        name: {"type": each} if isinstance(each, str) else each for name, each in properties.items()
    }
    return {"type": "object", "properties": known, "required": list(known)}


def array(items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"type": "array", "items": items}


def _body(required: tuple[str, ...], **properties: Schema) -> Schema:
    """Return the schema of a body without any other properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _text(longest: int = 10_000) -> Schema:
    return {"type": "string", "maxLength": longest}


_WISH: dict[str, Schema] = {
    "act": {"type": "string", "enum": list(ACTS)},
    "step": _text(20),
    "hard": _FLAG,
    "force": _FLAG,
    "mode": {"type": "string", "enum": ["commit", "merge", "squash", "rebase", "patch"]},
    "onto": _text(255),
    "message": _text(),
    "keep": _FLAG,
    "stay_open": _FLAG,
}
TASK = obj(id="string", name="string", status="string", branch="string")
STEP = obj(step_id="string", kind="string", status="string")
WINDOW = obj(start="integer", end="integer", size="integer", text="string")
PLAN = obj(act="string", title="string", sentence="string", digest="string", nothing="boolean")
DECISION = obj(
    session_id="string",
    state="string",
    via=_TEXT_OR_NONE,
    closed_in_step=_TEXT_OR_NONE,
    gate=_TEXT_OR_NONE,
)
START = _body(
    ("name",), name=_text(200), base=_text(255), description=_text(), plan_only=_FLAG, switch=_FLAG
)
WISH = _body(("act",), **_WISH)
CODE = _body(("act", "digest"), **_WISH, digest=_text(64))
ACT = _body(("act", "digest", "code"), **_WISH, digest=_text(64), code=_text(20))
ANSWER = _body(("decisions",), decisions=_ANSWERS, code=_text(20))
CANCEL = _body((), reason=_text(1000), code=_text(20))
STOP = _body((), code=_text(20))
RUN_CODE = _body(("act",), **_RUN_ACT)
RUN_ACT = _body(("act",), **_RUN_ACT, code=_text(20))
WORKFLOW_RUN = obj(runId="string", workflowName="string", status="string", agents=array(obj()))
DECISION_CODE = _body(
    ("act",),
    act={"type": "string", "enum": ["answer", "cancel"]},
    decisions=_ANSWERS,
    reason=_text(1000),
)


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
