"""Programs that talk to other machines."""

import re
from typing import TYPE_CHECKING

from siding.policy.fields import ANYTHING, UNKNOWN, PrintedText, known, shown_words
from siding.policy.hosts import is_local, obeys
from siding.policy.names import names, ordered
from siding.policy.options import Arguments, arguments
from siding.policy.programs.plain import reads_all

if TYPE_CHECKING:
    from siding.policy.call import Call
    from siding.policy.examiner import Examiner

_CURL_VALUES = ordered(
    """
    -d --data --data-raw --data-binary --data-ascii --data-urlencode --json -F --form
    --form-string -T --upload-file -o --output -O_ -X --request -H --header -u --user -A
    --user-agent -e --referer -b --cookie -c --cookie-jar -K --config -x --proxy -m --max-time
    --connect-timeout --retry --retry-delay -w --write-out -E --cert --key --cacert --capath -r
    --range -C --continue-at --unix-socket --abstract-unix-socket --resolve --connect-to -D
    --dump-header --trace --trace-ascii --output-dir --url --interface --limit-rate -y -Y -z
    --time-cond --oauth2-bearer --netrc-file --stderr --libcurl --hostpubmd5 -P --ftp-port -Q
    --quote -t --telnet-option --etag-save --etag-compare --proto --proto-redir --ciphers
    --engine --dns-servers --aws-sigv4 --url-query -U --proxy-user --pass --create-file-mode
    --max-redirs
    """
)
_CURL_SENDS = ordered("""
    -d --data --data-raw --data-binary --data-ascii --data-urlencode --json -F --form --form-string
    -T --upload-file
""")


_CURL_REROUTES = ordered("""
    -x --proxy --preproxy --socks4 --socks4a --socks5 --socks5-hostname --connect-to --resolve
    --proxy1.0 --interface --dns-servers
""")


def curl(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge curl."""
    given = arguments(call.arguments, _CURL_VALUES)
    if given.has("--version", "--help", "-V", "-h"):
        return ANYTHING
    urls = [*given.operands, *given.values("--url")]
    method = next(iter(given.values("-X", "--request")), "").upper()
    sends = given.has(*_CURL_SENDS) or method not in ("", "GET", "HEAD")
    local = [url for url in urls if is_local(url)]
    if given.has(*_CURL_REROUTES):  # another machine may get what is sent to this one
        local = []
    if given.has("--unix-socket", "--abstract-unix-socket"):
        examiner.found("local-server", shown_words(call.words[:6]))
    if sends and local and len(local) == len(urls):
        for url in (url for url in local if obeys(url, examiner.place.agents.ports)):
            examiner.found("local-server", url)
    elif sends:
        examiner.found("send-data", shown_words(call.words[:6]))
    if given.has("-K", "--config", "--engine", "--libcurl"):
        examiner.found("option-runs-program", "-K")
    if given.has("-u", "--user", "--oauth2-bearer", "-n", "--netrc", "--netrc-file") or any(
        re.match(r"(?i)(?:proxy-)?authorization:|cookie:|x-api-key:", v)
        for v in given.values("-H", "--header")
    ):
        _credentials(examiner, given)
    _curl_files(examiner, call, given)
    _urls(examiner, call, urls)
    reads_all(examiner, call)
    if given.has("-O", "--remote-name", "--remote-name-all"):
        for name in _names(urls):
            examiner.takes(name, call.state)
    to_file = given.has("-o", "--output", "-O", "--remote-name")
    return PrintedText(text="" if to_file and "-" not in given.values("-o") else None, remote=True)


def _curl_files(examiner: "Examiner", call: "Call", given: Arguments) -> None:
    for path in given.values(
        "-o",
        "--output",
        "-D",
        "--dump-header",
        "-c",
        "--cookie-jar",
        "--trace",
        "--trace-ascii",
        "--stderr",
        "--etag-save",
    ):
        if path != "-":
            examiner.writes(path, call.state)
            examiner.takes(path, call.state)
    for path in given.values("--output-dir"):
        examiner.writes_into(path, call.state)


def _credentials(examiner: "Examiner", given: Arguments) -> None:
    for value in (*given.values("-u", "--user", "--oauth2-bearer", "-H", "--header"),):
        if UNKNOWN in value:
            examiner.found("print-secret", value)


def _urls(examiner: "Examiner", call: "Call", urls: list[str]) -> None:
    for url in urls:
        if url.startswith("file:"):
            examiner.reads(url.removeprefix("file:").removeprefix("//"), call.state)
        if re.search(r"[?/=&@.]", url[: url.rfind(UNKNOWN) + 1]):
            examiner.found("send-data", url)
        if url.startswith(("gopher:", "dict:", "telnet:", "smtp:", "ftp:", "scp:", "sftp:")):
            examiner.found("send-data", url)


def _names(urls: list[str]) -> set[str]:
    return {url.partition("?")[0].rstrip("/").rpartition("/")[2] or "index.html" for url in urls}


_WGET_VALUES = ordered(
    """
    -O --output-document -P --directory-prefix -o --output-file -a --append-output -i
    --input-file -e --execute -U --user-agent --header --post-data --post-file --body-data
    --body-file --method --user --password --use-askpass --config -t --tries -T --timeout -w -l
    --level -A -R -D -I -X --load-cookies --save-cookies --referer --ca-certificate
    --certificate --private-key -Q --limit-rate --restrict-file-names --rejected-log
    """
)


def wget(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge wget, and the clients that are written like it."""
    given = arguments(call.arguments, _WGET_VALUES)
    if given.has("--version", "--help", "-V", "-h"):
        return ANYTHING
    urls = list(given.operands)
    if given.has("--post-data", "--post-file", "--body-data", "--body-file") or given.values(
        "--method"
    ) not in ([], ["GET"]):
        if not urls or not all(map(is_local, urls)):
            examiner.found("send-data", shown_words(call.words[:6]))
        for url in (url for url in urls if obeys(url, examiner.place.agents.ports)):
            examiner.found("local-server", url)
    for name in ("-e", "--execute", "--use-askpass", "--config"):
        for value in given.values(name):
            examiner.found("option-runs-program", f"{name} {value}")
    for path in given.values(
        "-O", "--output-document", "-o", "--output-file", "-a", "--append-output", "--save-cookies"
    ):
        if path != "-":
            examiner.writes(path, call.state)
            examiner.takes(path, call.state)
    for path in given.values("-P", "--directory-prefix"):
        examiner.writes_into(path, call.state)
    _urls(examiner, call, urls)
    reads_all(examiner, call)
    if not given.has("-O", "--output-document", "--spider"):
        for name in _names(urls):
            examiner.takes(name, call.state)
    joined = "-" in given.values("-O", "--output-document") or any(
        re.fullmatch(r"-\w*O-", word) for word in call.arguments
    )
    return PrintedText(text=None if joined else "", remote=True)


_SSH_VALUES = ordered("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B")


def ssh(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge ssh: its command runs on another machine and its input is sent there."""
    given = arguments(call.arguments, _SSH_VALUES, stop_at_operand=True)
    if given.has("-V", "-Q") and not given.operands:
        return ANYTHING
    for value in given.values("-o"):
        if re.match(
            r"(?i)(?:proxy|local|knownhosts)command|proxyusefd|pkcs11|include|match", value
        ):
            examiner.found("option-runs-program", f"-o {value}")
            examiner.inner_text("ssh -o", re.split(r"[= ]", value, maxsplit=1)[-1], call.state)
    for name in ("-F", "-I", "-E"):
        for value in given.values(name):
            examiner.found("option-runs-program", f"{name} {value}")
    if given.has("-R", "-L", "-D", "-w", "-W"):
        examiner.found("serve-files", shown_words(call.words[:6]))
    reads_all(examiner, call)
    if given.operands:
        examiner.found("change-remote", given.operands[0])
        examiner.found("send-data", given.operands[0])
        line = " ".join(given.operands[1:])
        if line and known(line):
            state = call.state.copy()
            examiner.inner_text("ssh", line, state)
    return PrintedText(remote=True)


def netcat(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge nc, ncat, socat, telnet."""
    given = arguments(call.arguments, ("-w", "-p", "-s", "-i", "-x", "-X", "-q", "-e", "-c", "-m"))
    if given.has("-h", "--help", "--version", "-V") and len(given.operands) == 0:
        return ANYTHING
    if given.has("-z") and not given.has("-e", "-c"):
        return ANYTHING
    if call.name != "telnet" and (
        given.has("-e", "-c", "--exec", "--sh-exec")
        or any(re.search(r"(?i)(?:exec|system|shell):", word) for word in call.arguments)
    ):
        examiner.found("serve-files", shown_words(call.words))
        for value in given.values("-e", "-c"):
            examiner.inner_text(call.name, value, call.state)
    elif given.has("-l", "--listen") or any(
        re.search(r"(?i)listen", word) for word in call.arguments
    ):
        examiner.found("serve-files", shown_words(call.words))
    elif given.has("-U") or any("UNIX" in word.upper() for word in call.arguments):
        examiner.found("local-server", shown_words(call.words))
    else:
        examiner.found("send-data", shown_words(call.words))
    reads_all(examiner, call)
    return PrintedText(remote=True)


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
    sends = bool(data) or method not in ("", "GET", "HEAD") or call.stdin.text is not None
    if sends and not is_local(url):
        examiner.found("send-data", shown_words(call.words[:6]))
    elif sends and obeys(url, examiner.place.agents.ports):
        examiner.found("local-server", url)
    for path in given.values("-o", "--output"):
        examiner.writes(path, call.state)
        examiner.takes(path, call.state)
    _urls(examiner, call, [url, *words])
    reads_all(examiner, call)
    return PrintedText(remote=True)


JUDGES = {
    **dict.fromkeys(("http", "https", "httpie", "xh", "xhs"), httpie),
    **dict.fromkeys(("curl", "curlie"), curl),
    **dict.fromkeys(("wget", "wget2", "aria2c", "axel"), wget),
    **dict.fromkeys(names("ssh autossh mosh dbclient plink sshpass rsh rlogin"), ssh),
    **dict.fromkeys(("nc", "ncat", "netcat", "socat", "telnet"), netcat),
}
