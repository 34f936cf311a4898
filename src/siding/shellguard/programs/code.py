"""Interpreters: program text on the command line, in a file, or on standard input."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from siding.shellguard.fields import ANYTHING, UNKNOWN, PrintedText, shown_words
from siding.shellguard.names import names, ordered
from siding.shellguard.options import arguments
from siding.shellguard.paths import Zone
from siding.shellguard.programs.by_row import judge_row
from siding.shellguard.programs.path_meanings import means
from siding.shellguard.programs.plain import runner, setup_script
from siding.shellguard.programs.program_text import judge_program
from siding.shellguard.programs.purposes import judge_script
from siding.shellguard.programs.rows import does_projects_work, row_of

if TYPE_CHECKING:
    from siding.shellguard.examiner import Examiner
    from siding.shellguard.state import Call

# interpreter -> options that hold text, options that load something, options with values
_OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "node": (
        ("-e", "--eval", "-p", "--print", "-pe"),
        ("-r", "--require", "--import", "--loader", "--experimental-loader"),
        ("--max-old-space-size", "-C"),
    ),
    "bun": (("-e", "--eval", "-p", "--print"), ("-r", "--preload"), ("--cwd",)),
    "deno": (("-e",), (), ()),
    "perl": (("-e", "-E"), ("-I",), ("-F", "-0")),
    "ruby": (("-e",), ("-r", "-I"), ("-C", "-E", "-F")),
    "php": (("-r", "-B", "-R", "-E"), ("-d", "-c", "-z"), ("-t", "-S")),
    "lua": (("-e",), ("-l",), ()),
    "luajit": (("-e",), ("-l",), ()),
    "Rscript": (("-e",), (), ()),
}
# Other languages: the options are alike enough.
_ANY_LANGUAGE = (
    ordered("""
        -e -c -x -ex -o -g -G --eval -eval -E --execute --command -Command /c /k -r --expr -p
    """),
    ordered("-l --load -require --script -s"),
    ordered("-t -f -i -cp --args"),
)


def python(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge python: -c text, -m module, a script, or standard input."""
    words = list(call.arguments)
    while words and words[0].startswith("-") and words[0] not in ("-", "-c", "-m", "--"):
        word = words.pop(0)
        if word in ("-V", "-VV", "--version", "-h", "--help"):
            return ANYTHING
        if re.fullmatch(r"(?s)-[A-Za-z]*[cm].*", word) and not word.startswith("--"):
            at = min(word.index(c) for c in "cm" if c in word)
            words = [f"-{word[at]}", *([word[at + 1 :]] if word[at + 1 :] else []), *words]
            break
        if word in ("-W", "-X", "--check-hash-based-pycs"):
            words = words[1:]
        if word.startswith("-i") and not [w for w in words if not w.startswith("-")]:
            examiner.found("code-from-input", word)
    if words and words[0] == "--":
        words.pop(0)
    if words[:1] == ["-c"]:
        endless = _text(examiner, call, "".join(words[1:2]), words[2:])
        for word in words[2:]:
            examiner.reads(word, call.state)
        return PrintedText(endless=endless)
    elif words[:1] == ["-m"]:
        return _module(examiner, call, words[1:])
    elif words and words[0] not in ("-", "/dev/stdin"):
        _script(examiner, call, words)
    else:
        _text_input(examiner, call)
    return ANYTHING


def _text(examiner: "Examiner", call: "Call", text: str, given: Sequence[str] = ()) -> bool:
    return judge_program(examiner, call.name, text, call.state, given)


def _text_input(examiner: "Examiner", call: "Call") -> None:
    """Judge program text that comes on standard input."""
    text = call.stdin.text
    if call.stdin.remote:
        examiner.found("remote-code", call.name)
    elif text is None:
        examiner.found("code-from-input", call.name)
    else:
        _text(examiner, call, text)


# Modules that are programs of another name, or do more than run the project's code.
_PROGRAMS_AS_MODULES = names("""
    alembic ansible awscli azure.cli celery conda coverage django flask flit hatch httpie
    huggingface_hub invoke keyring mkdocs mlflow nox pdm pip pipx poetry pre_commit pyngrok siding
    tox twine uv virtualenv wandb
""")
_AS_PROGRAM = {
    "awscli": "aws",
    "azure.cli": "az",
    "django": "django-admin",
    "httpie": "http",
    "huggingface_hub": "huggingface-cli",
    "pyngrok": "ngrok",
}


def _module(examiner: "Examiner", call: "Call", words: list[str]) -> PrintedText:
    """Judge ``python -m``: a module is the project's own, or the program it belongs to."""
    name = words[0] if words else ""
    if name in _PROGRAMS_AS_MODULES:
        program = _AS_PROGRAM.get(name, name.replace("_", "-"))
        return examiner.judges.judge(examiner, call._replace(words=(program, *words[1:])))
    if name in ("venv", "virtualenv"):
        for directory in arguments(words[1:], ("--prompt",)).operands:
            examiner.writes(directory, call.state)
            examiner.makes(directory, "", call.state)
        return ANYTHING
    if name in ("http.server", "SimpleHTTPServer", "pyftpdlib", "smtpd"):
        _server(examiner, call, words[1:])
        return ANYTHING
    if name in ("ftplib", "telnetlib", "poplib", "imaplib", "nntplib") and words[1:]:
        examiner.found("send-data", shown_words(words))
    if name == "ensurepip" and {"--user", "--root"} & set(words):
        examiner.found("write-outside", shown_words(words))
    if name in ("timeit", "code", "IPython", "pdb"):
        return _module_with_text(examiner, call, words)
    if name in ("base64", "zipfile", "tarfile"):
        for word in words[1:]:
            examiner.reads(word, call.state)
        return runner(examiner, call._replace(words=tuple(words)))
    if not re.fullmatch(r"[\w.-]+", name):
        examiner.found("dynamic-command", f"-m {name}")
    return runner(examiner, call._replace(words=tuple(words or ["python"])))


def _module_with_text(examiner: "Examiner", call: "Call", words: list[str]) -> PrintedText:
    """Judge modules that run program text: from their arguments, or from standard input."""
    name = words[0]
    if name == "IPython":
        return python(examiner, call._replace(words=("ipython", *words[1:])))
    if name == "timeit":
        given = arguments(
            words[1:],
            ("-n", "--number", "-r", "--repeat", "-s", "--setup", "-u", "--unit"),
            stop_at_operand=True,
        )
        text = "\n".join((*given.values("-s", "--setup"), *given.operands))
        _text(examiner, call, text)
    elif name == "code":
        _text_input(examiner, call)
    for command in arguments(words[1:], ("-c", "--command")).values("-c", "--command"):
        _text(examiner, call, command.lstrip("!"))
    return runner(examiner, call._replace(words=(name,)))


def _server(examiner: "Examiner", call: "Call", words: list[str]) -> None:
    given = arguments(words, ("-b", "--bind", "-d", "--directory", "-p", "--protocol"))
    bound = given.values("-b", "--bind")
    if not bound or bound[0] not in ("127.0.0.1", "localhost", "::1"):
        examiner.found("serve-files", "a server that other machines can reach")
    for directory in given.values("-d", "--directory"):
        if not examiner.is_workspace(directory, call.state):
            examiner.found("serve-files", directory)
    if not examiner.is_workspace(".", call.state):
        examiner.found("serve-files", ".")


def _script(examiner: "Examiner", call: "Call", words: list[str]) -> None:
    path = words[0]
    name = path.rpartition("/")[2]
    if name in ("artisan", "console") or (name == "manage.py" and words[1:2] != ["test"]):
        examiner.judges.judge(examiner, call._replace(words=(name, *words[1:])))
        if examiner.zone(path, call.state) not in (Zone.INSIDE, Zone.STEERING):
            examiner.found("run-outside", path)
        return
    judge_script(examiner, path)
    text = examiner.made_text(path, call.state)
    if examiner.is_fetched(path, call.state):
        examiner.found("remote-code", path)
    elif path.startswith("/dev/fd/") or UNKNOWN in path:
        examiner.found("code-from-input", path)
    elif text is not None:  # a program that this line wrote
        _text(examiner, call, text)
    elif examiner.zone(path, call.state) not in (Zone.INSIDE, Zone.STEERING):
        examiner.found("run-outside", path)
    setup_script(examiner, call._replace(words=tuple(words)))
    runner(examiner, call._replace(words=(call.words[0], *words[1:])))


def interpreter(examiner: "Examiner", call: "Call") -> PrintedText:
    """Judge a language by its text, its script or its input: node, perl, ruby, tclsh, scala …"""
    name = re.sub(r"(?<=node)js$|[\d.]+$", "", call.name)
    text_options, loaders, with_value = _OPTIONS.get(name, _ANY_LANGUAGE)
    words = list(call.arguments)
    if name in ("deno", "bun") and words:
        return _javascript_tool(examiner, call, words)
    if name == "perl":
        words = _perl_words(words)
    given = arguments(words, (*text_options, *loaders, *with_value), stop_at_operand=True)
    texts = given.values(*text_options)
    _loaders(examiner, call, given.values(*loaders))
    _debuggers(examiner, name, words)
    if given.has("-S") and name == "php":
        if not all(re.match(_HERE_ONLY, value) for value in given.values("-S")):
            examiner.found("serve-files", " ".join(given.values("-S")))
        return ANYTHING
    shown = given.values("-p", "--print", "-pe") if name == "node" else []
    texts = [f"print({text})" if text in shown else text for text in texts]
    endless = False
    for text in texts:
        endless |= _text(examiner, call, text, given.operands)
    in_place = name in ("perl", "ruby") and any(re.match(r"-[pnlw0]*i", word) for word in words)
    for operand in given.operands if texts else ():
        examiner.reads(operand, call.state)
        if in_place:
            examiner.writes(operand, call.state)
    if name == "ruby" and "-run" in words:
        return _ruby_program(examiner, call, texts, given.operands)
    if texts or given.has("--version", "-version", "-v", "--help", "-help", "-h", "-V"):
        return PrintedText(endless=endless)
    piped = name == "php" and words[:1] == ["--"]  # what follows are arguments
    if given.operands and given.operands[0] != "-" and not piped:
        _script(examiner, call, list(given.operands))
    elif not given.has("--test"):
        _text_input(examiner, call)
    return ANYTHING


def _ruby_program(
    examiner: "Examiner", call: "Call", texts: list[str], given: Sequence[str]
) -> PrintedText:
    """Judge ``ruby -run -e httpd``: a library of Ruby that has httpd, rm, cp and the like."""
    words = (*texts[:1], *(word for word in given if word != "--"))
    if words[:1] != ("httpd",):
        return examiner.inner("ruby -run", words, call)
    bound = re.search(r"--bind-address[= ](\S+)", " ".join(call.arguments))
    if not bound or not re.match(_HERE_ONLY, bound[1]):
        examiner.found("serve-files", shown_words(call.words[:6]))
    return ANYTHING


_HERE_ONLY = r"(?:localhost|127\.[\d.]+|\[::1\])(?::\d+)?$"
# `perl -d:NAME` runs with a module that sees all; those that measure are ordinary.
_DEBUGGERS = r"-dt?:(?!(?:NYTProf|Cover|DProf|Trace|ptkdb)\b)"


def _debuggers(examiner: "Examiner", name: str, words: list[str]) -> None:
    for word in words:
        debugs = re.match(r"--inspect(?:-brk|-wait)?=(?!\d+$)(.*)", word)
        if debugs and not re.match(_HERE_ONLY, debugs[1]):
            examiner.found("serve-files", word)
        if name == "perl" and re.match(_DEBUGGERS, word):
            examiner.found("option-runs-program", word)


def _loaders(examiner: "Examiner", call: "Call", values: list[str]) -> None:
    """Judge what an interpreter loads first: a module by its name, or a file of the workspace."""
    for value in values:
        plain = re.fullmatch(r"[\w:/@-]+", value) and not value.startswith("/")
        setting = value.startswith(("memory_limit", "display_errors"))
        own = "=" not in value and examiner.is_workspace(value, call.state)
        if not plain and not setting and not own:
            examiner.found("option-runs-program", value)


def _perl_words(words: list[str]) -> list[str]:
    """Split perl's joined flags: ``-pi.bak``, ``-lne TEXT``, ``-MList::Util=sum``."""
    taken: list[str] = []
    for word in words:
        if re.fullmatch(r"-[A-Za-z0]*[eE]", word) and len(word) > 2:
            taken += ["-x" + word[1:-1].replace("i", "") if "i" not in word else "-i", "-e"]
        elif re.match(r"-[Mm]-?[\w:]+", word):
            taken.append("--module=" + word[2:])
        else:
            taken.append(word)
    return taken


def _javascript_tool(examiner: "Examiner", call: "Call", words: list[str]) -> PrintedText:
    verb = next((w for w in words if not w.startswith("-")), "")
    if verb in ("eval", "repl") or any(w in ("-e", "--eval", "-p", "--print") for w in words):
        after = words[words.index(verb) + 1 :] if verb == "eval" else words[1:]
        for text in [w for w in after if not w.startswith("-")][:1]:
            judge_program(examiner, "node", text, call.state)
        return ANYTHING
    if "-" in words and verb in ("run", ""):
        _text_input(examiner, call)
        return ANYTHING
    packages = [w for w in words if re.match(r"npm:|jsr:", w)]
    unknown = [w for w in packages if not does_projects_work(re.split(r"[:@]", w)[1])]
    if re.match(r"https?:|file:", verb) or unknown or any(re.match(r"https?:", w) for w in words):
        examiner.found("remote-code", verb)
        return ANYTHING
    if verb in ("publish", "deploy") and call.name == "deno":
        examiner.found("publish", shown_words(call.words[:4]))
    if verb == "upgrade" and call.name == "deno":
        examiner.found("write-outside", shown_words(call.words[:4]))
    if verb == "task" and call.name == "deno":
        for word in words[words.index(verb) + 1 :]:
            means(examiner, call, ("task",), word)
    if verb in ("x", "create", "install", "add") and call.name == "deno":
        examiner.found("install-elsewhere", " ".join(words[:4]))
        return ANYTHING
    like_npm = row_of("npm") if call.name == "bun" else None
    if like_npm is None:
        return runner(examiner, call, ("--filter",))
    return judge_row(examiner, call, like_npm)
