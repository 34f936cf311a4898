"""JSON-RPC over lines: each answer is for its request, and nothing that comes raises an error."""

import json
from typing import Any

from siding.agents.talking.port import Unread
from siding.agents.talking.rpc import Rpc, RpcAnswer, RpcMessage, RpcNotice, RpcRequest


def received(rpc: Rpc, *messages: Any) -> list[RpcMessage]:
    return [*rpc.receive(b"".join(json.dumps(each).encode() + b"\n" for each in messages))]


def sent(rpc: Rpc) -> list[Any]:
    return [json.loads(line) for line in rpc.to_send().splitlines()]


def test_answers_come_in_any_order_and_each_once() -> None:
    rpc = Rpc()
    rpc.request("open", {"cwd": "/"})
    rpc.request("prompt", {"text": "hi"}, about="a-prompt")
    rpc.notify("ready")
    first, second, third = sent(rpc)
    assert sent(rpc) == []
    assert (first["jsonrpc"], first["method"], first["params"]) == ("2.0", "open", {"cwd": "/"})
    assert third == {"jsonrpc": "2.0", "method": "ready"}

    later, sooner, again = received(
        rpc,
        {"id": second["id"], "result": {"ok": True}},
        {"id": first["id"], "error": {"code": -3, "message": "no", "data": [1]}},
        {"id": second["id"], "result": {}},
    )
    assert isinstance(later, RpcAnswer)
    assert (later.method, later.about, later.fields) == ("prompt", "a-prompt", {"ok": True})
    assert later.fault is None
    assert isinstance(sooner, RpcAnswer)
    assert sooner.fault is not None
    assert tuple(sooner.fault) == (-3, "no", [1])
    assert isinstance(again, Unread)


def test_what_the_agent_asks_is_answered_once_under_its_own_id() -> None:
    rpc = Rpc(version="")
    messages = received(rpc, *({"id": its, "method": "may", "params": {}} for its in (0, "", "a")))
    asks = [message.ask for message in messages if isinstance(message, RpcRequest)]
    assert len(asks) == 3
    assert [rpc.answer(ask, {"yes": True}) for ask in asks] == [True] * 3
    assert sent(rpc) == [{"id": its, "result": {"yes": True}} for its in (0, "", "a")]
    assert not rpc.answer(asks[0], {})
    assert not rpc.refuse(asks[1], -1, "no")
    assert sent(rpc) == []

    # An id that was answered may come again, and is another ask.
    (again,) = received(rpc, {"id": 0, "method": "may"})
    assert isinstance(again, RpcRequest)
    assert again.ask not in asks
    assert rpc.refuse(again.ask, -32601, "not known")
    assert sent(rpc) == [{"id": 0, "error": {"code": -32601, "message": "not known"}}]


def test_what_the_agent_takes_back_is_not_answered() -> None:
    rpc = Rpc()
    (asked,) = received(rpc, {"id": 0, "method": "may"})
    assert isinstance(asked, RpcRequest)
    others: tuple[Any, ...] = (False, "0", None, [], 1)
    assert [rpc.withdrawn(other) for other in others] == [""] * 5
    assert rpc.withdrawn(0) == asked.ask
    assert rpc.withdrawn(0) == ""
    assert not rpc.answer(asked.ask, {})
    assert sent(rpc) == []


def test_what_is_odd_is_unread_and_what_is_new_passes() -> None:
    rpc = Rpc()
    rpc.request("open", {})
    odd: tuple[Any, ...] = (
        *({}, {"id": True, "result": 1}, {"id": 1.0, "result": 1}, {"id": "1", "result": 1}),
        *({"id": True, "method": "may"}, {"id": 1.5, "method": "may"}),
        *({"id": [], "method": "may"}, {"id": 1, "method": 7}, {"id": None, "result": {}}),
    )
    assert all(isinstance(each, Unread) for each in received(rpc, *odd))
    (notice,) = received(rpc, {"params": [1], "method": "told", "new": {}})
    assert isinstance(notice, RpcNotice)
    assert (notice.method, notice.params) == ("told", {})
    assert notice.line.unread().line.endswith('"new": {}}')
    (answer,) = received(rpc, {"result": None, "id": 1})
    rpc.request("close", {})
    (refused,) = received(rpc, {"id": 2, "error": "not now"})
    assert isinstance(refused, RpcAnswer)
    assert refused.fault == (0, "not now", None)
    assert isinstance(answer, RpcAnswer)
    assert (answer.result, answer.fault, answer.fields) == (None, None, {})
