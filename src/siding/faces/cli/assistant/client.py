"""The program at the other end of the streams of JSON: what it is asked, and its servers of MCP."""

import asyncio
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
from siding.faces.cli.assistant.control import AnsweredAs, asking, cancelling, permission_in
from siding.faces.cli.assistant.printing import print_lines
from siding.ground.errors import SidingError

ASKED_BY_CLIENT = "stdio"  # the value of --permission-prompt-tool with which a client is asked


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
