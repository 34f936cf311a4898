"""What the built-in agent loads only where it is needed: a start has to be instant."""

import subprocess
import sys

from unit.verb_imports import imports_of

LIBRARIES = ("anthropic", "httpx2", "openai", "pydantic", "pydantic_ai", "yaml")
WORK = (
    "asyncio",
    "siding.assistant.loop.loop",
    "siding.assistant.tools.factory",
    "siding.assistant.models.any_model",
)


def loaded(code: str, names: tuple[str, ...]) -> set[str]:
    """Return which of the modules are loaded when the code has run."""
    script = f"import sys\n{code}\nprint(*({names!r} & sys.modules.keys()))"
    script = script.replace(repr(names), repr(set(names)))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    return set(done.stdout.split())


def test_what_begins_its_run_loads_nothing_that_works() -> None:
    inside = {f"siding.faces.cli.assistant.{name}" for name in ("options", "serving")}
    begins = imports_of("agent") - inside
    assert "siding.running.run" in begins
    assert loaded(f"import {', '.join(sorted(begins))}", (*LIBRARIES, *WORK)) == set()


def test_within_its_run_no_library_of_a_model_is_loaded_before_a_request() -> None:
    assert loaded("import siding.faces.cli.assistant.serving", LIBRARIES) == set()
    assert loaded("import siding.faces.cli.assistant.serving", WORK) == set(WORK)
