"""Programs of the network whose operands are a small language of their own."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.fields import PrintedText, shown_words
from siding.shellguard.names import ordered
from siding.shellguard.options import arguments
from siding.shellguard.programs.meanings import read_as
from siding.shellguard.programs.plain import reads_all
from siding.shellguard.programs.requests import judge_sending

if TYPE_CHECKING:
    from siding.shellguard.call import Call
    from siding.shellguard.examiner import Examiner

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
