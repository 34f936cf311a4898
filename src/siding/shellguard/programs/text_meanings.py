"""The words of a row about a text: an address, a command, a statement, a name."""

import re
from typing import TYPE_CHECKING

from siding.shellguard.effects import secret_variable, seeks_secrets
from siding.shellguard.fields import MARKS, UNKNOWN, known, shown_words
from siding.shellguard.hosts import is_far, is_local, is_metadata
from siding.shellguard.names import names
from siding.shellguard.paths import Zone
from siding.shellguard.programs.amounts import AMOUNTS
from siding.shellguard.programs.rows import does_projects_work
from siding.shellguard.programs.service_meanings import SERVICES, judge_task

if TYPE_CHECKING:
    from collections.abc import Callable

    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call


# -- Judge SQL that a command line holds, and the clients' own commands in it ----------------------


_SQL_WRITES = re.compile(
    r"(?is)\b(?:drop|truncate|delete|alter|update|insert|replace|grant|revoke|(?<!show )create|copy"
    r"|vacuum|attach|load_extension|load_file|pg_(?:terminate|cancel)_backend|pg_read_file|lo_import"
    r"|into\s+outfile|call|do|execute|set\s+role"
    r"|install\s+(?:plugin|component)|load(?=\s+'')"
    r"|lo_export|pg_(?:reload_conf|switch_wal|promote|write_file|read_binary_file)|xp_cmdshell"
    r"|killOp|stepDown|fsyncLock|renameCollection"
    # of MongoDB: `deleteMany`, `dropDatabase`
    r"|(?:drop|delete|update|insert|replace|remove|rename|create|bulkWrite|findAnd(?:Modify|Update))"
    r"(?:One|Many|Database|Collection|Index(?:es)?|User)?(?=\s*\()|(?:run|admin)Command|shutdownServer"
    r"|\$out|\$merge)\b"
)
# What acts on the server when a statement begins with it; elsewhere it may be the name of a column.
_BEGINS = re.compile(
    r"(?is)(?:^|;)\s*(?:set\s+(?:global|persist)|kill\s+(?:query\s+|connection\s+)?\d|flush|shutdown"
    r"|reset\s+(?:master|slave|replica)|purge\s+binary|reindex|refresh\s+materialized"
    r"|reassign\s+owned|optimize\s+table|detach\s+table|merge\s+into|lock\s+tables?"
    r"|system\s+(?:drop|stop|reload|shutdown))\b"
)
# Functions and clauses that read a file or an address, with the text they are given.
_READS = re.compile(
    r"(?is)\b(?:read_(?:csv|csv_auto|parquet|json|json_auto|text|blob)|file|url|s3|http_get|dblink"
    r"|from|infile)\s*\(?\s*'([^']*)'"
)


def judge_sql(examiner: "Examiner", call: "Call", text: str) -> None:
    if not known(text):
        examiner.found("code-from-input", text)
        return
    examiner.budget.spend(2 + len(text) // 8, "reading program text")
    meta = re.search(
        r"(?m)(?:^|;)[^\S\n]*(?:\\[!goi|wscr]|\\copy|\.(?:shell|system|output|once"
        r"|import|load|save|backup|read|restore|excel|archive|clone|open)|system\s|source\s)",
        text,
    )
    if meta or re.search(r"(?is)\bprogram\b|load_extension|writefile|readfile", text):
        examiner.found("code-unclear", text[:120])
        for line in re.findall(r"(?:\\!|\.shell|\.system|system)\s*(.+)", text):
            examiner.inner_text(call.name, line, call.state)
        for path in re.findall(r"\.(?:output|once|save|backup|clone|open)\s+(\S+)", text):
            examiner.writes(path, call.state)
    for path in _READS.findall(text):
        if "://" in path:
            examiner.found("send-data", path)
        examiner.reads(path, call.state)
    bare = re.sub(r"'(?:[^']|'')*'", "''", text)
    found = _SQL_WRITES.search(bare) or _BEGINS.search(bare)
    if found:
        examiner.found("destroy-data", found.group())


# -- The words of a row about a text: an address, a command, a statement, a name -------------------


def _nothing(_examiner: "Examiner", _call: "Call", _value: str) -> None:
    return


def _line(examiner: "Examiner", call: "Call", value: str) -> None:
    if re.fullmatch(r"(?:npm|pnpm|yarn|bun|node):[\w:*-]+", value):
        judge_task(examiner, call, value.partition(":")[2])  # `concurrently npm:dev`
        return
    examiner.inner_text(call.name, value, call.state)
    if not known(value):
        examiner.found("code-from-input", value)


# Programs that only pack, show or connect: with flags alone they are no question.
_PLAIN = names("gzip pigz bzip2 pbzip2 xz pxz zstd lz4 brotli cat less more ssh rsync")
_ODD = r"-o|-e|[|;&$`<>(){}!\n]"


def runs(examiner: "Examiner", call: "Call", value: str) -> None:
    if value.partition(" ")[0] in _PLAIN and not re.search(_ODD, value):
        return
    examiner.found("option-runs-program", f"{call.name}: {value}")
    if known(value):
        examiner.inner_text(call.name, value, call.state)


_ODD_PROGRAM = r"\s\S*(?:/|-c\b)|^(?:ba|z|da)?sh\b|[/;|&$`]"


def _program(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge the name of a program, as in ``make CC=clang``: it should be no more than a name."""
    if re.search(_ODD_PROGRAM, value):
        examiner.found("option-runs-program", value)


def _sql(examiner: "Examiner", call: "Call", value: str) -> None:
    judge_sql(examiner, call, value)


def _code(examiner: "Examiner", call: "Call", value: str) -> None:
    from siding.shellguard.programs.program_text import judge_program  # few commands hold a program

    judge_program(examiner, call.name, value, call.state)
    for path in re.findall(
        r"(?m)^[ \t]*(?:source|command script import) +([\w./~-]+)[ \t]*$", value
    ):
        if not examiner.is_workspace(path, call.state):
            examiner.found("run-outside", path)


def _far(examiner: "Examiner", _call: "Call", value: str) -> None:
    if is_far(value):
        examiner.found("send-data", value)


def _machine(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a machine to log in to; ``ssh -T git@HOST`` only asks a code host who one is."""
    if not (re.match(r"git@[\w.-]+$", value) and call.arguments[-1] == value):
        examiner.found("change-remote", shown_words(call.words[:6]))
        examiner.found("send-data", shown_words(call.words[:6]))


_ODD_SCHEME = r"gopher:|dict:|telnet:|smtp:|ftp:|scp:|sftp:"


def asks_for(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge an address that is asked for: what is put together when it runs can carry data away."""
    _metadata(examiner, value)
    if value.startswith("file:"):
        examiner.reads(value.removeprefix("file:").removeprefix("//"), call.state)
    unknown = re.search(r"[?/=&@.]", value[: value.rfind(UNKNOWN) + 1])
    if (unknown and not is_local(value)) or re.match(_ODD_SCHEME, value):
        examiner.found("send-data", value)


def _metadata(examiner: "Examiner", value: str) -> None:
    if is_metadata(value):
        examiner.found("cloud-metadata", value)


def _reroutes(examiner: "Examiner", _call: "Call", value: str) -> None:
    for host in re.findall(r"\[[^\]]*\]|[\w.]+\.[\w.]+", value):
        _metadata(examiner, host)


def _saves(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge an address whose file is kept under its own name."""
    name = value.partition("?")[0].rstrip("/").rpartition("/")[2].removesuffix(".git")
    examiner.takes(name or "index.html", call.state)


def _credential(examiner: "Examiner", _call: "Call", value: str) -> None:
    if UNKNOWN in value:
        examiner.found("print-secret", value)


_SHOWS_SECRETS = r"(?i)\.env\b|\{\{\s*json \.\s*\}\}|\.Config\s*\}|secret|password|token"


def _template(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge what is shown of a container; its environment holds its credentials."""
    if re.search(_SHOWS_SECRETS, value):
        examiner.found("print-secret", value)


def _handed(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a file or key that the build of an image is given: ``id=x,src=FILE``."""
    for path in re.findall(r"(?:^|,)(?!id=|type=|env=)[\w.-]+=([^,]+)", value):
        examiner.reads(path, call.state)
        if examiner.zone(path, call.state) not in (Zone.INSIDE, Zone.TEMPORARY):
            examiner.found("read-secret", path)


def _setting(examiner: "Examiner", call: "Call", value: str) -> None:
    name, _, text = value.partition("=")
    examiner.variable(name, text, call.state, lasting=False)


def _mount(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a directory that a container is given: it may change everything in it."""
    named = re.search(r"(?:^|,)(?:source|src)=([^,]*)", value)
    source = named.group(1) if named else value.partition(":")[0]
    if known(source) and not re.match(r"[./~]", source):
        return  # the name of a volume
    inside = examiner.is_workspace(source, call.state)
    if not inside and examiner.zone(source, call.state) is not Zone.TEMPORARY:
        examiner.found("leave-container", value)


def _shares(examiner: "Examiner", call: "Call", value: str) -> None:
    if value.partition(":")[0] in ("host", "container", "ns"):
        examiner.found("leave-container", shown_words(call.words[:8]))


def _copied(examiner: "Examiner", call: "Call", value: str) -> None:
    if ":" not in value and value != "-":
        examiner.reads(value, call.state)
        examiner.writes_into(value, call.state)


_FAR_PACKAGE = (
    r"^(?:git\+|https?://|ssh://|git://|github:|gitlab:|bitbucket:|file:/|npm:"
    r"|[\w-]+ @ )|\.(?:tgz|tar\.gz|whl|zip|gem)$|@https?:"
)


_JAVASCRIPT = names("npm pnpm yarn bun")


def _package(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what a package manager is to install: a package that no registry has is asked about."""
    own = not re.search(r"[:@]", value) and examiner.is_workspace(value, call.state)
    of_github = call.name in _JAVASCRIPT and re.fullmatch(r"[\w-]+/[\w.-]+(?:#.*)?", value)
    if of_github or (re.search(_FAR_PACKAGE, value) and not own):
        examiner.found("install-elsewhere", value)


# Packages that projects use every day; another one may be anybody's.
_LIBRARIES = names("""
    attrs beautifulsoup4 boto3 click django fastapi flask hypothesis httpx ipython jinja2 jupyter
    lxml matplotlib numpy openai pandas pillow polars pydantic pyyaml requests rich scipy sqlalchemy
    textual tqdm typer uvicorn
""")


def _library(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge packages that are installed for one run only, and run with it."""
    for each in value.split(","):
        name = re.split(r"[\[<>=!~ ;@]", each.strip())[0].lower()
        first = name.partition("-")[0]
        if not (name in _LIBRARIES or does_projects_work(name) or does_projects_work(first)):
            examiner.found("install-elsewhere", each)
        _package(examiner, call, each)


def _module(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge a package of Go that is run: one with a host in its path is fetched."""
    if "@" in value or "://" in value or re.match(r"[\w.-]+\.[a-z]+/", value):
        examiner.found("install-elsewhere", value)


def _flake(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what nix runs: of the workspace, of the packages that nix comes with, or elsewhere."""
    path = value.partition("#")[0].removeprefix("path:")
    ours = path.startswith("nixpkgs") or examiner.is_workspace(path or ".", call.state)
    if not ours or "://" in path or re.match(r"[a-z]\w*[:/](?!/)", path):
        examiner.found("install-elsewhere", value)


_GIVES_AWAY = (
    r"^0?[2467]\d{3}$|(?:^|,)[ugoa]*[+=][rwx]*s|^[ugoa]*\+[rwxX]*s"  # a set-id bit
    r"|(?:^|,)o(?:ther)?:"  # an entry of an access list, for everybody
)


def _mode(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge the mode that a file is given: with a set-id bit, whoever runs it is its owner."""
    if re.search(_GIVES_AWAY, value):
        examiner.found("open-permissions", value)


def _computed(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge a name that is looked up: what is put together when it runs can carry data away."""
    if set(value) & set(MARKS) and set(value) - set(MARKS):
        examiner.found("send-data", value)


# Remotes of this name are, by custom, platforms that run what is pushed to them.
_DEPLOYS = names("heroku dokku piku gigalixir clever production prod live deploy")


def _remote(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge where git pushes to: a name of a remote, or an address."""
    if value in _DEPLOYS:
        examiner.found("publish", f"git push {value}")
    if "://" in value or re.match(r"[\w.-]+(?:@[\w.-]*)?:", value) or UNKNOWN in value:
        examiner.found("send-data", value)


def _refspec(examiner: "Examiner", call: "Call", value: str) -> None:
    if value.startswith(("+", ":")) or UNKNOWN in value:
        examiner.found("git-rewrites", shown_words(call.words))
    if value.rpartition(":")[2].removeprefix("refs/heads/") in _PAGES and "push" in call.words:
        examiner.found("publish", shown_words(call.words))


# What is pushed to branches of these names, a host shows to everybody.
_PAGES = names("gh-pages pages production prod")
_SHARED = names("main master trunk develop dev release stable production prod staging HEAD")


def _shared_branch(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge a branch that is pushed with a lease: one that others build on is not rewritten."""
    if value.rpartition(":")[2].removeprefix("refs/heads/") in _SHARED:
        examiner.found("git-rewrites", shown_words(call.words))


def _pattern(examiner: "Examiner", call: "Call", value: str) -> None:
    """Judge what is searched for in the input, which may hold credentials with their names."""
    if call.stdin.secret and seeks_secrets(value):
        examiner.found("print-secret", value)


def _variable(examiner: "Examiner", _call: "Call", value: str) -> None:
    if secret_variable(value) or UNKNOWN in value:
        examiner.found("print-secret", value)


# A variable of the environment in a filter: `$ENV.NAME`, `env["NAME"]`, `strenv(NAME)`.
_OF_ENVIRONMENT = r"(?:\$ENV|\benv)(?:\.|\[\"|\.\[\")(\w+)|\b(?:str)?env\((\w+)\)"


def _filter(examiner: "Examiner", call: "Call", value: str) -> None:
    _shown(examiner, re.findall(_OF_ENVIRONMENT, value))
    if call.stdin.secret and re.search(r"\.Config\b(?!\.(?!Env)\w)|\bEnv\b", value):
        examiner.found("print-secret", value)  # of a container


def _variables(examiner: "Examiner", _call: "Call", value: str) -> None:
    """Judge a text in which variables are put: ``$NAME`` and ``${NAME}``."""
    _shown(examiner, re.findall(r"\$(\w+)|\$\{(\w+)\}", value))


def _shown(examiner: "Examiner", found: list[tuple[str, str]]) -> None:
    for name in map("".join, found):
        if secret_variable(name):
            examiner.found("print-secret", name)


TEXTS: "dict[str, Callable[[Examiner, Call, str], None]]" = {
    "value": _nothing,
    "target": _nothing,
    "program": _program,
    "far": _far,
    "line": _line,
    "runs": runs,
    "sql": _sql,
    "code": _code,
    "url": asks_for,
    "setting": _setting,
    "variable": _variable,
    "pattern": _pattern,
    "saves": _saves,
    "sends": _nothing,
    "reroutes": _reroutes,
    "method": _nothing,
    "credential": _credential,
    "header": _nothing,
    "carries": _nothing,
    "mount": _mount,
    "shares": _shares,
    "copied": _copied,
    "package": _package,
    "module": _module,
    "flake": _flake,
    "mode": _mode,
    "computed": _computed,
    "remote": _remote,
    "refspec": _refspec,
    "shared-branch": _shared_branch,
    "template": _template,
    "handed": _handed,
    "library": _library,
    **AMOUNTS,
    **SERVICES,
    "machine": _machine,
    "filter": _filter,
    "variables": _variables,
}
