"""What the scripted model of these tests answers, and what they look at afterwards."""

import json
from typing import Any

from sandbox import Sandbox

SCRIPT = r"""
answers:
  - match: fix
    steps:
      - tools: [{Read: {file_path: calc.py}}]
      - tools: [{Edit: {file_path: calc.py, old_string: "a - b", new_string: "a + b"}}]
      - text: Done.
  - match: run (.*)
    steps:
      - tools: [{Bash: {command: "{1}"}}]
      - results: 'person did not allow this: (?P<why>.*)'
        text: "I was told: {why}"
        otherwise: {text: Done.}
  - match: search
    steps:
      - tools: [{Grep: {pattern: word, output_mode: files_with_matches}}]
      - results: '(?s)(?P<found>.*)'
        text: "{found}"
  - match: ask
    steps:
      - tools:
          - AskUserQuestion:
              questions:
                - question: Which one?
                  header: one
                  options:
                    - {label: red, description: the first}
                    - {label: blue, description: the second}
      - results: '→ (?P<which>\w+)'
        text: "{which} it is"
        otherwise: {text: Nobody said.}
  - match: object
    steps:
      - tools: [{StructuredOutput: {n: 3}}]
      - text: done
"""


# Subagents: what they are asked is a prompt as any other.
SCRIPT += r"""
  - match: 'have (\S+) (seek|mend|rest)'
    steps:
      - tools:
          - Agent: {description: as asked, prompt: "{2} it, and report", subagent_type: "{1}"}
      - results: '(?s)(?P<said>.*)'
        text: "It said: {said}"
  - match: seek it
    steps:
      - tools: [{Grep: {pattern: word, output_mode: files_with_matches}}]
      - results: '(?s)(?P<found>.*)'
        text: "I found {found}"
  - match: mend it
    steps:
      - tools: [{Read: {file_path: calc.py}}]
      - tools: [{Edit: {file_path: calc.py, old_string: "a - b", new_string: "a + b"}}]
      - results: 'not used'
        text: "I may not mend."
        otherwise: {text: "Mended."}
  - match: rest it
    steps:
      - tools: [{Bash: {command: "echo $$ >>resting; sleep 60"}}]
      - text: Rested.
"""
# Its tools are those of a server of MCP.
SCRIPT += "".join(
    rf"""
  - match: echo {tool} (\w+)
    steps:
      - tools: [{{mcp__own__{tool}: {{text: "{{1}}"}}}}]
      - results: '^(?P<said>[^\n]*)'
        text: "I heard {{said}}"
"""
    for tool in ("loud", "low", "never")
)


def whole(sandbox: Sandbox, prompt: str, *flags: str) -> dict[str, Any]:
    model = f"scripted:{sandbox.directory / 'script.yaml'}"
    words = ("agent", "-p", prompt, "--model", model, "--output-format", "json", *flags)
    found: dict[str, Any] = json.loads(sandbox.siding(*words).stdout)
    return found


def fixed(sandbox: Sandbox) -> bool:
    return "a + b" in (sandbox.workspace() / "calc.py").read_text()


def denied(found: dict[str, Any]) -> list[str]:
    return [each["tool_name"] for each in found["permission_denials"]]


def denied_tools(result: Any) -> list[str]:
    """Return the tools that were denied, by a message of the client."""
    return [each["tool_name"] for each in result.permission_denials or ()]
