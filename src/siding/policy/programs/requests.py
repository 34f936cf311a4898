"""Judge the requests of a call: what it sends, and to which addresses."""

from typing import TYPE_CHECKING

from siding.policy.fields import shown_words
from siding.policy.hosts import is_local, obeys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from siding.policy.call import Call
    from siding.policy.examiner import Examiner
    from siding.policy.programs.given import Given


def judge_requests(examiner: "Examiner", call: "Call", given: "Given") -> None:
    """Judge what options send, or ask for with a method that changes something."""
    asks = (value.upper() in ("GET", "HEAD") for value in given.values("method"))
    if not given.has("sends") and all(asks):
        return
    operands = given.operands if "url" in given.places.get("(operands)", ()) else []
    addresses = [*operands, *given.values("url")]
    if addresses or given.has("sends"):
        judge_sending(examiner, call, addresses, rerouted=given.has("reroutes"))
    else:  # the program knows where to
        examiner.found("change-remote", shown_words(call.words[:6]))


def judge_sending(
    examiner: "Examiner", call: "Call", addresses: "Sequence[str]", *, rerouted: bool = False
) -> None:
    """Judge that something is sent to these addresses, or if `rerouted` to another machine."""
    if rerouted or not addresses or not all(map(is_local, addresses)):
        examiner.found("send-data", shown_words(call.words[:6]))
        return
    for address in addresses:
        if obeys(address, examiner.place.agents.ports):
            examiner.found("local-server", address)
