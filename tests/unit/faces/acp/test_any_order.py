"""A client, its sessions and their agents in any order of what they do.

Whatever happens: each request gets one answer; a prompt is answered after its turn, or when it is
dropped; the client is asked only what is open, and what it is not to answer any more is taken back;
each update is one that the schema of the protocol takes.
"""

from typing import Any

from acp import schema
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from unit.faces.acp.desk import ROOT, Client


class Conversations(RuleBasedStateMachine):
    """One session that is opened again and again; its conversation goes on by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.client = Client()
        self.session = ""
        self.story: list[tuple[str, dict[str, Any]]] = []
        self.queue: list[str] = []
        self.running = ""
        self.open_asks: dict[str, bool] = {}  # and whether it was put to a person
        self.prompts: dict[int, str] = {}  # which request is for which prompt
        self.over: set[str] = set()
        self.count = 0
        self.answered: set[int] = set()
        self.read = 0

    @initialize()
    def begin(self) -> None:
        self.session = self.client.begun()

    def says(self, event: str, **fields: Any) -> None:
        self.story.append((event, fields))
        self.client.line(self.session, event, **fields)

    def name(self, kind: str) -> str:
        self.count += 1
        return f"{kind}{self.count}"

    # -- the client --------------------------------------------------------------------------------

    @rule()
    def it_prompts(self) -> None:
        number, prompt = self.client.prompts(self.session, self.name("words "))
        self.prompts[number] = prompt
        self.queue.append(prompt)
        self.says("queued", prompt=prompt, text=prompt)

    @rule()
    def it_cancels(self) -> None:
        before = len(self.client.desk.did("stop"))
        self.client.tells("session/cancel", sessionId=self.session)
        assert len(self.client.desk.did("stop")) == before + 1

    @rule(choice=st.sampled_from(["allow", "always", "reject", "nonsense", "cancelled", "error"]))
    def it_answers(self, choice: str) -> None:
        open_ones = [
            each["id"]
            for each in self.client.requests
            if each["id"] not in self.answered and each["id"] not in self.client.taken_back
        ]
        if not open_ones:
            return
        number = open_ones[0]
        self.answered.add(number)
        outcome = {"outcome": "selected", "optionId": choice}
        if choice == "cancelled":
            outcome = {"outcome": "cancelled"}
        result: dict[str, Any] = {"result": {"outcome": outcome}}
        if choice == "error":
            result = {"error": {"code": -32601, "message": "no"}}
        self.client.sends({"id": number, **result})

    @rule(resumes=st.booleans())
    def it_opens_the_session_again(self, resumes: bool) -> None:
        method = "session/resume" if resumes else "session/load"
        number = self.client.asks(method, sessionId=self.session, cwd=ROOT, mcpServers=[])
        for event, fields in list(self.story):
            self.client.line(self.session, event, **fields)
        self.client.caught_up(self.session)
        self.client.result(number)

    # -- the conversation --------------------------------------------------------------------------

    @rule()
    def somebody_else_prompts(self) -> None:
        prompt = self.name("other ")
        self.queue.append(prompt)
        self.says("queued", prompt=prompt, text=prompt)

    @precondition(lambda self: self.queue and not self.running)
    @rule()
    def the_next_turn_begins(self) -> None:
        self.running = self.queue.pop(0)
        self.says("sending", prompt=self.running)
        self.says("turn-started", prompt=self.running)

    @precondition(lambda self: self.running)
    @rule(call=st.sampled_from("ab"), ends=st.booleans())
    def a_tool_is_used(self, call: str, ends: bool) -> None:
        edits = [{"path": "a.py", "old": "x", "new": "y"}]
        self.says("tool-started", call=call, name="Edit", kind="edit", edits=edits)
        self.says("tool-output", call=call, text="it prints\n")
        self.client.caught_up(self.session)
        if ends:
            self.says("tool-ended", call=call, text="done")

    @precondition(lambda self: self.running)
    @rule(is_put=st.sampled_from([True, True, False]), is_question=st.booleans())
    def it_asks(self, is_put: bool, is_question: bool) -> None:
        ask = self.name("ask")
        choices = {"choices": [{"question": "Which?", "options": [["A", ""], ["B", "b"]]}]}
        self.says("asked", ask=ask, title="May it?", call="a", **(choices if is_question else {}))
        self.open_asks[ask] = is_put
        if is_put:
            self.says("put", ask=ask, decision=f"d-{ask}")

    @precondition(lambda self: self.open_asks)
    @rule(event=st.sampled_from(["answered", "ask-gone"]))
    def an_ask_is_over(self, event: str) -> None:
        ask = next(iter(self.open_asks))
        del self.open_asks[ask]
        self.says(event, ask=ask, **({"allows": True} if event == "answered" else {}))

    @precondition(lambda self: self.running)
    @rule(how=st.sampled_from(["done", "stopped", "failed"]), is_recorded=st.booleans())
    def the_turn_ends(self, how: str, is_recorded: bool) -> None:
        self.over.add(self.running)
        self.running = ""
        self.open_asks.clear()
        self.says("turn-ended", how=how)
        if is_recorded:
            self.says("recorded", step=1)
        else:
            self.client.ticks(self.session, 0.0)
            self.client.ticks(self.session, 1000.0)

    @precondition(lambda self: self.queue)
    @rule()
    def one_is_dropped(self) -> None:
        prompt = self.queue.pop()
        self.over.add(prompt)
        self.says("dropped", prompt=prompt)

    # -- what holds --------------------------------------------------------------------------------

    @invariant()
    def each_prompt_is_answered_when_it_is_over_and_not_before(self) -> None:
        for number, prompt in self.prompts.items():
            answer = self.client.answer_to(number)  # one at most
            assert (answer is not None) == (prompt in self.over), (prompt, answer)

    @invariant()
    def the_client_is_asked_what_is_open(self) -> None:
        is_put = {ask for ask, is_put in self.open_asks.items() if is_put}
        taken_back = self.client.taken_back
        assert len(taken_back) == len(set(taken_back))
        left = [
            each
            for each in self.client.requests
            if each["id"] not in taken_back and each["id"] not in self.answered
        ]
        assert len(left) <= len(is_put)
        for each in left:
            schema.RequestPermissionRequest.model_validate(each["params"])

    @invariant()
    def each_update_is_one_of_the_protocol(self) -> None:
        for each in self.client.updates[self.read :]:
            schema.SessionNotification.model_validate({"sessionId": "s", "update": each})
        self.read = len(self.client.updates)


Conversations.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestConversations = Conversations.TestCase
