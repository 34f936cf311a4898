"""Names of tasks, and the branch names made of them. No I/O."""

MAX_NAME_LENGTH = 200
MAX_SLUG_LENGTH = 48
MAX_DERIVED_LENGTH = 60  # of a name that is made from a command
INTERPRETERS = ("python", "node", "bash", "sh", "ruby", "perl", "npx", "uvx", "deno", "bun")


def problem_with_name(name: str) -> str | None:
    """Return why a task cannot be called `name`, or None when it can.

    All scripts and punctuation are allowed: `slug` makes the name fit for git.
    """
    if not name.strip():
        return "it is empty"
    if len(name) > MAX_NAME_LENGTH:
        return f"it is longer than {MAX_NAME_LENGTH} characters"
    if any(not character.isprintable() for character in name):
        return "it contains control characters"
    if name.startswith("-"):
        return "it starts with '-' and would be taken for an option"
    return None


def slug(name: str) -> str:
    """Return `name` as a part of a branch name: only ``a-z0-9-``, "task" if nothing is left."""
    letters = [
        character if character.isascii() and character.isalnum() else "-"
        for character in name.lower()
    ]
    words = "".join(letters).split("-")
    joined = "-".join(word for word in words if word)
    return joined[:MAX_SLUG_LENGTH].rstrip("-") or "task"


def branch_name(prefix: str, name: str, task_id: str) -> str:
    """Return the task's branch, such as ``siding/fix-the-parser-k3v9x2ab``."""
    return f"{prefix}{slug(name)}-{task_id}"


def _last_part(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1] or "task"


def name_after_command(argv: list[str]) -> str:
    """Return a name for a task that was started by running a command.

    ``["/usr/bin/my-agent", "-p", "fix the parser"]`` -> ``my-agent: fix the parser``.
    """
    program = _last_part(argv[0])
    words = [word for word in argv[1:] if not word.startswith("-") and word.isprintable()]
    if program.startswith(INTERPRETERS) and len(argv) > 1 and argv[1] == (words or [""])[0]:
        program, words = _last_part(argv[1]), words[1:]  # `python agent.py` is about agent.py
    # The longest argument is the prompt, where there is one.
    subject = max(words, key=len, default="") if words else ""
    name = f"{program}: {subject}" if " " in subject.strip() else program
    clean = "".join(character for character in name if character.isprintable()).strip(" -")
    return cut_at_word(clean, MAX_DERIVED_LENGTH) or "task"


def cut_at_word(text: str, length: int) -> str:
    """Return `text`; if it is longer than `length`, its first whole words and a ``…``."""
    if len(text) <= length:
        return text
    kept = text[:length]
    whole = kept.rpartition(" ")[0] if " " in kept[length // 2 :] else kept[:-1]
    return whole.rstrip(" ,;:-") + "…"
