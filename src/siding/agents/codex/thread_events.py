"""What Codex tells of its threads, as events: texts, thoughts, tools, plans, tokens.

An item's text comes in pieces, or only whole, as the item ends: what no piece had is told then.
Threads of helpers are told of under the call that began them (`inside`).
"""

from collections.abc import Mapping
from typing import Any

from siding.agents.codex.thread_items import Item, tool_ended, tool_started
from siding.agents.codex.token_use import TokenUse
from siding.agents.talking.port import (
    Applied,
    Compacted,
    Event,
    InBackground,
    Planned,
    PlanStep,
    Text,
    Thought,
    ToolEnded,
    ToolOutput,
    ToolStarted,
)
from siding.agents.talking.rpc import RpcNotice
from siding.ground.namedtuples import NamedTuple
from siding.ground.storage.fields import mapping, mappings, strings, text

_PART = "\n\n"  # between the parts of a thought
_TEXTS = frozenset({"item/agentMessage/delta", "item/plan/delta"})
_THOUGHTS = frozenset({"item/reasoning/summaryTextDelta", "item/reasoning/textDelta"})
_OUTPUTS = frozenset({"item/commandExecution/outputDelta", "item/fileChange/outputDelta"})
_SILENT_ITEMS = frozenset(
    "userMessage hookPrompt functionCallOutput enteredReviewMode exitedReviewMode sleep".split()
)
# What is known, and shown as nothing: here it has no meaning, or it is told in another way as well.
_SILENT = frozenset(
    """
    account/gatewayOAuth/changed account/login/completed account/rateLimits/updated account/updated
    app/list/updated autoApprovalReview/strictReviewRequired deprecationNotice guardianWarning
    hook/completed hook/started item/autoApprovalReview/completed item/autoApprovalReview/started
    item/commandExecution/terminalInteraction item/fileChange/patchUpdated
    mcpServer/oauthLogin/completed mcpServer/startupStatus/updated model/safetyBuffering/updated
    model/verification modelProvider/authRecoveryCompleted modelProvider/authRecoveryStarted
    project/changed rawResponse/completed rawResponseItem/completed remoteControl/status/changed
    thread/archived thread/attachment/updated thread/closed thread/compacted thread/deleted
    thread/environment/connected thread/environment/disconnected thread/goal/cleared
    thread/goal/updated thread/name/updated thread/prediction/updated thread/project/updated
    thread/queue/changed thread/readState/changed thread/reverted thread/section/changed
    thread/settings/updated thread/started thread/status/changed thread/unarchived
    turn/completed turn/diff/updated turn/moderationMetadata turn/started warning
    """.split()
)


class _Running(NamedTuple):
    """The call of a tool that has not ended."""

    item: Item
    turn: str
    title: str


class ThreadEvents:
    """Reads notices. What belongs to a turn is closed as it ends (`end`)."""

    def __init__(self) -> None:
        self._running: dict[str, _Running] = {}  # by call
        self._ended: set[str] = set()  # calls that were ended here, before Codex said so
        self._streamed: dict[str, str] = {}  # what was told of an item's text
        self._helpers: dict[str, str] = {}  # the calls that began them, by thread
        self._background: dict[str, str] = {}  # what goes on beside the turns: titles, by call
        self._use = TokenUse()
        self._compacts_from = 0

    def item(self, call: str) -> Item:
        """Return what a call is; {} if it does not run."""
        found = self._running.get(call)
        return {} if found is None else found.item

    def commands_of(self, turn: str) -> list[str]:
        """Return the calls of a turn's commands that run."""
        return [
            call
            for call, running in self._running.items()
            if running.turn == turn and running.item.get("type") == "commandExecution"
        ]

    def begin(self) -> None:
        """A turn of our thread begins."""
        self._use.begin()

    def end(self, turn: str, *, is_done: bool) -> list[Event]:
        """Return what its end ends, too.

        A command that goes on after a turn that is done runs in the background.
        """
        found: list[Event] = []
        for call, running in tuple(self._running.items()):
            if running.turn != turn:
                continue
            if is_done and running.item.get("type") in ("commandExecution", "subAgentActivity"):
                self._background[call] = running.title
            else:
                del self._running[call]
                self._ended.add(call)
                found.append(ToolEnded(call, failed=True))
        return [*found, self._in_background()] if is_done and self._background else found

    def read(self, notice: RpcNotice, *, is_ours: bool) -> list[Event]:
        params, method = notice.params, notice.method
        inside = "" if is_ours else self._inside(text(params.get("threadId")))
        match method:
            case "item/started":
                return self._started(notice, inside)
            case "item/completed":
                return self._completed(notice, inside)
            case "item/reasoning/summaryPartAdded":
                return self._piece(params, _PART, inside) if self._has_begun(params) else []
            case "item/mcpToolCall/progress":
                return [ToolOutput(_call(params), f"{text(params.get('message'))}\n")]
            case "turn/plan/updated":
                return [_planned(params)] if is_ours else []
            case "thread/tokenUsage/updated":
                return self._use.read(params) if is_ours else []
            case "model/rerouted" if is_ours:
                return [Applied(model=text(params.get("toModel")))]
        if method in _TEXTS or method in _THOUGHTS:
            piece = text(params.get("delta"))
            return self._piece(params, piece, inside, is_thought=method in _THOUGHTS)
        if method in _OUTPUTS:
            return [ToolOutput(_call(params), text(params.get("delta")))]
        return [] if method in _SILENT else [notice.line.unread()]

    # -- Texts and thoughts ------------------------------------------------------------------------

    def _has_begun(self, params: Mapping[str, Any]) -> bool:
        return _call(params) in self._streamed

    def _piece(
        self, params: Mapping[str, Any], piece: str, inside: str, *, is_thought: bool = True
    ) -> list[Event]:
        call = _call(params)
        self._streamed[call] = self._streamed.get(call, "") + piece
        return [Thought(piece, inside) if is_thought else Text(piece, inside)]

    def _rest(self, item: Item) -> str:
        """Return what an item says that no piece has said."""
        told = self._streamed.pop(text(item.get("id")), "")
        parts = strings(item.get("summary")) or strings(item.get("content"))
        whole = _PART.join(parts) if item.get("type") == "reasoning" else text(item.get("text"))
        return whole[len(told) :] if whole.startswith(told) else ""

    # -- Items -------------------------------------------------------------------------------------

    def _started(self, notice: RpcNotice, inside: str) -> list[Event]:
        item = mapping(notice.params.get("item"))
        call, kind = text(item.get("id")), text(item.get("type"))
        if kind == "subAgentActivity":
            return self._helper(item, text(notice.params.get("turnId")), inside)
        if kind == "contextCompaction":
            self._compacts_from = self._use.context
            return []
        if kind in _SILENT_ITEMS or kind in ("agentMessage", "plan", "reasoning"):
            return []
        started = tool_started(item, inside)
        if started is None:
            return [notice.line.unread()]
        if call in self._running:
            return []
        for thread in strings(item.get("receiverThreadIds")):
            self._helpers.setdefault(thread, call)
        turn = text(notice.params.get("turnId"))
        self._running[call] = _Running(item=item, turn=turn, title=started.title)
        return [started]

    def _completed(self, notice: RpcNotice, inside: str) -> list[Event]:
        item = mapping(notice.params.get("item"))
        call, kind = text(item.get("id")), text(item.get("type"))
        if kind in ("agentMessage", "plan", "reasoning"):
            rest = self._rest(item)
            made = Thought if kind == "reasoning" else Text
            return [made(rest, inside)] if rest else []
        if kind == "contextCompaction":
            return [Compacted(self._compacts_from, self._use.context)]
        if kind in _SILENT_ITEMS or kind == "subAgentActivity" or call in self._ended:
            return []
        found: list[Event] = []
        if call not in self._running:  # it is told of as it ends alone
            found = self._started(notice, inside)
            if call not in self._running:
                return found
        for thread in strings(item.get("receiverThreadIds")):
            self._helpers.setdefault(thread, call)
        del self._running[call]
        return [*found, tool_ended(item), *self._no_longer(call)]

    # -- Helpers, and what goes on beside the turn -------------------------------------------------

    def _inside(self, thread: str) -> str:
        return self._helpers.get(thread, thread)

    def _helper(self, item: Item, turn: str, inside: str) -> list[Event]:
        """A helper's call ends when the helper does, not when it has begun."""
        thread, path = text(item.get("agentThreadId")), text(item.get("agentPath"))
        match item.get("kind"):
            case "started":
                call = text(item.get("id"))
                title = f"helper {path.rpartition('/')[2]}"
                self._helpers[thread] = call
                self._running[call] = _Running(item=item, turn=turn, title=title)
                return [ToolStarted(call, "spawn_agent", title, inside=inside)]
            case "completed" | "interrupted" as how:
                call = self._helpers.get(thread, "")
                if self._running.pop(call, None) is not None:
                    return [ToolEnded(call, failed=how != "completed"), *self._no_longer(call)]
        return []

    def _no_longer(self, call: str) -> list[Event]:
        if self._background.pop(call, None) is None:
            return []
        return [self._in_background()]

    def _in_background(self) -> InBackground:
        return InBackground(tuple(self._background.values()))


def _call(params: Mapping[str, Any]) -> str:
    return text(params.get("itemId"))


def _planned(params: Mapping[str, Any]) -> Planned:
    statuses = {"inProgress": "in_progress"}
    return Planned(
        tuple(
            PlanStep(text(each.get("step")), statuses.get(status, status))
            for each in mappings(params.get("plan"))
            for status in (text(each.get("status")),)
        )
    )
