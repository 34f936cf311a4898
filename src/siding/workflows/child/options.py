"""What a script may ask of a call, checked where the script asks it."""

from typing import Any

from siding.workflows.child.errors import CONFIG, WorkflowError

MAX_PROMPT_BYTES = 4 << 20
ISOLATIONS = ("turn", "read", "worktree")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
# name -> the type that its value has; None is always taken as not given.
AGENT_OPTIONS: dict[str, tuple[type, ...]] = {
    "schema": (dict,),
    "model": (str,),
    "max_tokens": (int,),
    "agent_type": (str,),
    "isolation": (str,),
    "allowed_tools": (list, tuple),
    "label": (str,),
    "phase": (str,),
    "timeout": (int, float),
    "effort": (str,),
    "retries": (int,),
    "bring_back": (bool,),
    "details": (bool,),
}
_CHOICES = {"isolation": ISOLATIONS, "effort": EFFORTS}
_ASK_OPTIONS: dict[str, tuple[type, ...]] = {
    "options": (list, tuple),
    "context": (str,),
    "recommend": (str,),
    "multiple": (bool,),
    "timeout": (int, float),
}


def agent_request(prompt: Any, options: dict[str, Any], phase: str) -> dict[str, Any]:
    """Return what `agent` is to do, with the phase that is open. Raises WorkflowError."""
    if not isinstance(prompt, str):
        raise WorkflowError(f"agent() takes a text to begin with, not {_kind(prompt)}", CONFIG)
    asked = _checked("agent", options, AGENT_OPTIONS)
    if problem := _unsendable(prompt):
        raise WorkflowError(f"agent(): the prompt cannot be sent: {problem}", CONFIG)
    for name, choices in _CHOICES.items():
        if name in asked and asked[name] not in choices:
            raise WorkflowError(
                f"agent({name}={asked[name]!r}): it is one of {', '.join(choices)}", CONFIG
            )
    for name in ("max_tokens", "timeout"):
        if name in asked and asked[name] <= 0:
            raise WorkflowError(f"agent({name}={asked[name]!r}): it is more than 0", CONFIG)
    if phase and "phase" not in asked:
        asked["phase"] = phase
    return {"prompt": prompt, **asked}


def ask_request(question: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Return what `ask` is to ask. Raises WorkflowError."""
    if not isinstance(question, str) or not question.strip():
        raise WorkflowError("ask() takes a question", CONFIG)
    asked = _checked("ask", options, _ASK_OPTIONS)
    if "options" in asked:
        asked["options"] = [str(option) for option in asked["options"]]
    return {"question": question, **asked}


def sleep_request(seconds: Any) -> dict[str, Any]:
    """Return how long `sleep` is to wait. Raises WorkflowError."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds >= 0:
        raise WorkflowError(f"sleep() takes seconds, 0 or more, not {seconds!r}", CONFIG)
    return {"seconds": seconds}


def _checked(
    function: str, options: dict[str, Any], known: dict[str, tuple[type, ...]]
) -> dict[str, Any]:
    given = {name: value for name, value in options.items() if value is not None}
    for name, value in given.items():
        if name not in known:
            raise WorkflowError(
                f"{function}() has no option {name!r}; it has {', '.join(known)}", CONFIG
            )
        types = known[name]
        is_wrong = not isinstance(value, types) or (isinstance(value, bool) and bool not in types)
        if is_wrong:
            wanted = " or ".join(kind.__name__ for kind in types)
            raise WorkflowError(f"{function}({name}=…): it is {wanted}, not {_kind(value)}", CONFIG)
    return given


def _unsendable(text: str) -> str:
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return f"its letter {error.start + 1} is half of one (a lone surrogate)"
    return f"it has {size:,} bytes" if size > MAX_PROMPT_BYTES else ""


def _kind(value: Any) -> str:
    return "None" if value is None else type(value).__name__
