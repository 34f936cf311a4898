"""What ripgrep is told, so that it looks at what git does not ignore."""

from siding.assistant.tools.search.parsing import LONGEST_LINE
from siding.assistant.tools.search.request import Mode, Request

NOT_SEARCHED = (".bzr", ".git", ".hg", ".jj", ".sl", ".svn")
_ALWAYS = (
    "--no-config",
    "--no-messages",
    "--color=never",
    "--null",
    "--hidden",
    "--no-ignore-dot",  # the rules are git's and no others
    *(f"--glob=!{name}" for name in NOT_SEARCHED),
)
_BY_MODE = {
    Mode.LIST: ("--files",),
    Mode.FILES: ("--files-with-matches",),
    Mode.COUNT: ("--count", "--with-filename"),
    Mode.CONTENT: (
        "--with-filename",
        "--no-heading",
        "--line-number",
        "--no-context-separator",
        f"--max-columns={LONGEST_LINE}",
        "--max-columns-preview",
    ),
}
_TYPE = "siding"


def arguments(request: Request) -> list[str]:
    """Return the arguments, without the program; they are for the request's directory."""
    words = [*_ALWAYS, *_BY_MODE[request.mode]]
    # A glob would bring ignored files back; a type does not.
    for name in request.names:
        words += ("--type-add", f"{_TYPE}:{name}")
    if request.names:
        words += ("--type", _TYPE)
    if not request.ignores:
        words.append("--no-ignore")
    if request.any_case:
        words.append("--ignore-case")
    if request.multiline:
        words += ("--multiline", "--multiline-dotall")
    if request.mode is Mode.CONTENT:
        words += (f"--before-context={request.before}", f"--after-context={request.after}")
    if request.mode is not Mode.LIST:
        words += ("--regexp", request.pattern)
    return [*words, "--", f"./{request.file}" if request.file else "./"]
