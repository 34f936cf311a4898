"""JSON schemas of the API's bodies and answers."""

from typing import Any

from siding.faces.web.act_plans import ACTS
from siding.workflows.acts.from_dashboard import RunAct

Schema = dict[str, Any]
NUMBER: Schema = {"type": "integer", "minimum": 0, "maximum": 1 << 40}


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


_FLAG: Schema = {"type": "boolean", "default": False}
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
_TEXT_OR_NONE: Schema = {"type": ["string", "null"]}
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
_ANSWERS: Schema = {"type": "array", "items": {"type": "object"}}
ANSWER = _body(("decisions",), decisions=_ANSWERS, code=_text(20))
CANCEL = _body((), reason=_text(1000), code=_text(20))
STOP = _body((), code=_text(20))
_RUN_ACT: dict[str, Schema] = {
    "act": {"type": "string", "enum": [each.value for each in RunAct]},
    "agent": {"type": "integer", "minimum": 0, "maximum": 1 << 31},
}
RUN_CODE = _body(("act",), **_RUN_ACT)
RUN_ACT = _body(("act",), **_RUN_ACT, code=_text(20))
WORKFLOW_RUN = obj(runId="string", workflowName="string", status="string", agents=array(obj()))
DECISION_CODE = _body(
    ("act",),
    act={"type": "string", "enum": ["answer", "cancel"]},
    decisions=_ANSWERS,
    reason=_text(1000),
)
