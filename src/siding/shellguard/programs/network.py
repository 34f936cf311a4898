"""Programs of the network whose operands are a small language of their own."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import UNKNOWN, PrintedText, shown_words
from siding.shellguard.hosts import is_local, obeys
from siding.shellguard.names import ordered
from siding.shellguard.options import arguments
from siding.shellguard.programs.path_meanings import read_as
from siding.shellguard.programs.plain import reads_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from siding.shellguard.examiner import Examiner
    from siding.shellguard.programs.given import Given
    from siding.shellguard.state import Call


# -- Judge the requests of a call: what it sends, and to which addresses ---------------------------


def judge_requests(examiner: "Examiner", call: "Call", given: "Given") -> None:
    """Judge what options send, or ask for with a method that changes something."""
    _carried(examiner, call, given)
    goes_on = given.has("unbounded") and not given.has("bounds")
    if goes_on and not all(map(is_local, given.operands)):
        examiner.found("flood", shown_words(call.words[:6]))
    asks = (value.upper() in ("GET", "HEAD") for value in given.values("method"))
    if not given.has("sends") and all(asks):
        return
    operands = given.operands if "url" in given.places.get("(operands)", ()) else []
    addresses = [*operands, *given.values("url")]
    if addresses or given.has("sends"):
        judge_sending(examiner, call, addresses, rerouted=given.has("reroutes"))
    else:  # the program knows where to
        examiner.found("change-remote", shown_words(call.words[:6]))


_SECRET_HEADER = r"(?i)(?:proxy-)?authorization:|cookie:|x-api-key:"


def _carried(examiner: "Examiner", call: "Call", given: "Given") -> None:
    """Judge headers: a credential, or what is known only when it runs, goes out with the request.

    A server on this machine may have it.
    """
    headers = given.values("header")
    values = [*headers, *given.values("carries")]
    unknown = [value for value in values if UNKNOWN in value]
    unknown += [value for value in headers if value.startswith("@")]  # of a file
    addresses = [*given.operands, *given.values("url")]
    if not unknown or (addresses and all(map(is_local, addresses)) and not given.has("reroutes")):
        return
    for value in unknown:
        rule = "print-secret" if re.match(_SECRET_HEADER, value) else "send-data"
        examiner.found(rule, shown_words(call.words[:6]))


def judge_sending(
    examiner: "Examiner", call: "Call", addresses: "Sequence[str]", *, rerouted: bool = False
) -> None:
    """Judge that something is sent to these addresses, or if `rerouted` to another machine."""
    if rerouted or not addresses or not all(map(is_local, addresses)):
        examiner.found("send-data", shown_words(call.words[:6]))
        return
    for address in addresses:
        if obeys(address, examiner.place.ports):
            examiner.found("local-server", address)


# -- Programs of the network whose operands are a small language of their own ----------------------


_METHOD = re.compile(r"[A-Z]{3,7}")
_HTTPIE_VALUES = ordered("""
    -o --output -a --auth -A --auth-type -p --print -s --style --session --verify --cert --timeout
    --proxy --max-redirects --default-scheme
""")


def httpie(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge http, https and xh: a method, an address, and items that are sent."""
    given = arguments(call.arguments, _HTTPIE_VALUES)
    words = list(given.operands)
    method = words.pop(0) if words and _METHOD.fullmatch(words[0]) else ""
    url = words.pop(0) if words else ""
    url = f"localhost{url}" if url.startswith((":", "/")) else url
    data = [w for w in words if re.search(r"(?<!=)=(?!=)|:=|@", w)]
    if data or method not in ("", "GET", "HEAD") or call.stdin.text is not None:
        judge_sending(examiner, call, [url])
    for path in given.values("--session"):
        if "/" in path:
            examiner.writes(path, call.state)
    for path in given.values("-o", "--output"):
        examiner.writes(path, call.state)
        examiner.takes(path, call.state)
    for word in (url, *words):
        read_as(examiner, call, "url", word)
    reads_all(examiner, call)
    return PrintedText(remote=True)


def socat(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge socat: each of its addresses says what is done there."""
    text = " ".join(call.arguments).upper()
    if re.search("EXEC:|SYSTEM:|SHELL:|LISTEN", text):
        examiner.found("serve-files", shown_words(call.words))
    elif "UNIX" in text:
        examiner.found("local-server", shown_words(call.words))
    elif set(call.arguments) - {"-h", "-V"}:
        examiner.found("send-data", shown_words(call.words))
    reads_all(examiner, call)
    return PrintedText(remote=True)
