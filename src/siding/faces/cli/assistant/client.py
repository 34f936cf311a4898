"""The program at the other end of the streams of JSON, by the control protocol of Claude Code.

A line of the client is a prompt, a request, or an answer to one of ours. Requests have ids of the
side that asks. `Client` asks; on it stand the client's permissions, answers and servers of MCP.
"""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from siding.assistant.front_end import (
    NobodyAnswers,
    PermissionQuestion,
    PersonAllows,
    PersonDenies,
    as_said,
    update_from,
)
from siding.assistant.servers import Message, ServerError
from siding.faces.cli.assistant.printing import print_lines
from siding.ground.errors import SidingError
from siding.ground.namedtuples import NamedTuple

ASKED_BY_CLIENT = "stdio"  # the value of --permission-prompt-tool with which a client is asked
Line = dict[str, Any]


class Prompt(NamedTuple):
    """Somebody says something. `line` is what is repeated to a client that wants it.

    `origin` is what the client calls the prompt's, None for nothing. `id` is the client's own of
    the prompt, of any type.
    """

    content: str | Sequence[dict[str, Any]]
    line: Mapping[str, Any]
    origin: Mapping[str, Any] | None = None
    id: object = None


class Asked(NamedTuple):
    """The client wants something, and an answer under this id."""

    id: str
    what: str
    fields: Mapping[str, Any]


class AnsweredAs(NamedTuple):
    """The client's answer to our request; `error` is "" if it is one."""

    id: str
    fields: Mapping[str, Any]
    error: str = ""


class Cancelled(NamedTuple):
    """The client does not want an answer to its request any more."""

    id: str


class Ignored(NamedTuple):
    """A line that asks for nothing: a sign of life."""


class Unreadable(NamedTuple):
    """A line that means nothing to us; `why` is a sentence."""

    why: str


Input = Prompt | Asked | AnsweredAs | Cancelled | Ignored | Unreadable


def read(line: str) -> Input:
    """Return what a line of the client means."""
    if not line.strip():
        return Ignored()
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return Unreadable("the line is no JSON")
    if not isinstance(found, dict):
        return Unreadable("the line is no JSON object")
    match found.get("type"):
        case "user":
            return _prompt(found)
        case "control_request":
            return _asked(found)
        case "control_response":
            return _answered(found)
        case "control_cancel_request":
            return _with_id(found, Cancelled)
        case "keep_alive":
            return Ignored()
        case other:
            return Unreadable(f"there is no message of type {other!r}")


def asking(request: str, what: str, fields: Mapping[str, Any]) -> Line:
    """Return a request to the client."""
    return {
        "type": "control_request",
        "request_id": request,
        "request": {"subtype": what, **fields},
    }


def answering(request: str, fields: Mapping[str, Any] | None = None) -> Line:
    """Return the answer to a request of the client."""
    answer = {"subtype": "success", "request_id": request, "response": dict(fields or {})}
    return {"type": "control_response", "response": answer}


def refusing(request: str, error: str) -> Line:
    """Return the answer to a request that cannot be met."""
    answer = {"subtype": "error", "request_id": request, "error": error}
    return {"type": "control_response", "response": answer}


def cancelling(request: str) -> Line:
    """Return the line that takes a request of ours back."""
    return {"type": "control_cancel_request", "request_id": request}


class Permission(NamedTuple):
    """How the client has answered whether a tool may be used.

    `given` is the input that it runs with, None for the one it had. `updates` are permissions to
    remember. A refusal has a `reason` for the model; with `ends_turn` the turn is over.
    """

    allows: bool
    given: Mapping[str, Any] | None = None
    updates: tuple[Mapping[str, Any], ...] = ()
    reason: str = ""
    ends_turn: bool = False


def permission_in(answer: AnsweredAs) -> Permission:
    """Return the client's answer to `can_use_tool`. Whatever is not plainly a yes is a no."""
    if answer.error:
        return Permission(False, reason=f"the client could not decide: {answer.error}")
    fields = answer.fields
    if fields.get("behavior") == "allow":
        given = fields.get("updatedInput")
        updates = fields.get("updatedPermissions")
        return Permission(
            True,
            given=given if isinstance(given, dict) else None,
            updates=tuple(
                each
                for each in (updates if isinstance(updates, list) else ())
                if isinstance(each, dict)
            ),
        )
    message = fields.get("message")
    return Permission(
        False,
        reason=message if isinstance(message, str) and message else "it was refused",
        ends_turn=fields.get("interrupt") is True,
    )


def _prompt(found: Mapping[str, Any]) -> Input:
    message = found.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    origin = found.get("origin")
    origin = origin if isinstance(origin, dict) else None
    if isinstance(content, str):
        return Prompt(content, found, origin, found.get("uuid"))
    if isinstance(content, list) and all(
        isinstance(each, dict) and isinstance(each.get("type"), str) for each in content
    ):
        return Prompt(content, found, origin, found.get("uuid"))
    return Unreadable("a message of type 'user' has a text or a list of blocks as its content")


def _asked(found: Mapping[str, Any]) -> Input:
    request, request_id = found.get("request"), found.get("request_id")
    if not isinstance(request_id, str) or not request_id:
        return Unreadable("a control_request needs a request_id")
    fields = request if isinstance(request, dict) else {}
    what = fields.get("subtype")
    return Asked(request_id, what if isinstance(what, str) else "", fields)


def _answered(found: Mapping[str, Any]) -> Input:
    response = found.get("response")
    if not isinstance(response, dict) or not isinstance(response.get("request_id"), str):
        return Unreadable("a control_response needs a response with a request_id")
    if response.get("subtype") != "success":
        error = response.get("error")
        return AnsweredAs(
            response["request_id"], {}, error if isinstance(error, str) and error else "no reason"
        )
    fields = response.get("response")
    return AnsweredAs(response["request_id"], fields if isinstance(fields, dict) else {})


def _with_id(found: Mapping[str, Any], kind: type[Cancelled]) -> Input:
    request_id = found.get("request_id")
    if not isinstance(request_id, str):
        return Unreadable("a control_cancel_request needs a request_id")
    return kind(request_id)


class Unanswered(SidingError):
    """The client has gone."""

    code = "unanswered"


class Client:
    """Is asked; each request waits for its answer."""

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._waiting: dict[str, asyncio.Future[AnsweredAs]] = {}
        self._is_gone = False

    async def request(self, what: str, fields: Mapping[str, Any]) -> AnsweredAs:
        """Return the answer to a request, which is taken back if this is cancelled.

        Raises Unanswered.
        """
        if self._is_gone:
            raise Unanswered("the client has closed its end")
        request = self._new_id()
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[request] = waiting
        print_lines([asking(request, what, fields)])
        try:
            found: AnsweredAs = await waiting
            return found
        except asyncio.CancelledError:
            print_lines([cancelling(request)])
            raise
        finally:
            self._waiting.pop(request, None)

    def answered(self, answer: AnsweredAs) -> None:
        """Take an answer; one that nobody waits for is passed over."""
        waiting = self._waiting.get(answer.id)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

    def gone(self) -> None:
        """Expect no answers any more."""
        self._is_gone = True
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Unanswered("the client has closed its end"))


class AskedPermissions:
    """The client, asked whether calls may run."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ask(self, question: PermissionQuestion) -> PersonAllows | PersonDenies:
        """See `PermissionAsker.ask`."""
        fields = {
            "tool_name": question.call.name,
            "input": dict(question.call.given),
            "tool_use_id": question.call.id,
            "description": question.use.text,
            "decision_reason": question.why,
            "permission_suggestions": [as_said(each) for each in question.offers],
        }
        try:
            answer = permission_in(await self._client.request("can_use_tool", fields))
        except Unanswered as error:
            return PersonDenies(error.message)
        if not answer.allows:
            return PersonDenies(answer.reason, answer.ends_turn)
        updates = tuple(each for each in map(update_from, answer.updates) if each is not None)
        return PersonAllows(None if answer.given is None else dict(answer.given), updates)


class AskedQuestions:
    """The client, asked the questions of the tool AskUserQuestion, as one more call to permit."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def ask(self, call: str, questions: Sequence[Mapping[str, Any]]) -> Mapping[str, str]:
        """See `Asker.ask`."""
        given = {"questions": [dict(each) for each in questions]}
        fields = {"tool_name": "AskUserQuestion", "input": given, "tool_use_id": call}
        try:
            answer = permission_in(await self._client.request("can_use_tool", fields))
        except Unanswered as error:
            raise NobodyAnswers(error.message) from None
        answers = (answer.given or {}).get("answers")
        if not answer.allows or not isinstance(answers, dict):
            raise NobodyAnswers(answer.reason or "The client has not answered the questions.")
        return {str(question): _text(said) for question, said in answers.items()}


def _text(said: object) -> str:
    return ", ".join(map(str, said)) if isinstance(said, list) else str(said)


class ClientLink:
    """Implements `Link`: a message is a request to the client."""

    def __init__(self, client: Client, server: str) -> None:
        self._client = client
        self._server = server

    async def exchange(self, message: Message) -> Mapping[str, Any]:
        """See `Link.exchange`."""
        fields = {"server_name": self._server, "message": message}
        try:
            answer = await self._client.request("mcp_message", fields)
        except Unanswered as error:
            raise ServerError(error.message) from None
        found = answer.fields.get("mcp_response")
        if answer.error or not isinstance(found, dict):
            raise ServerError(answer.error or "the client has not answered with a message")
        return found

    async def tell(self, message: Message) -> None:
        """See `Link.tell`. The client says that it has heard it."""
        await self.exchange(message)

    async def close(self) -> None:
        """See `Link.close`. The server is the client's."""
