"""The rows of the agents that speak ACP. Qwen Code and Copilot are held if installed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agents.conftest import AgentAtWork, GeminiAtWork, OpencodeAtWork, program
from agents.models import Answer, Call, ModelServer
from agents.talking.rows import Row
from sandbox import Sandbox


class GeminiRow(Row):
    """The Gemini CLI."""

    kind = GeminiAtWork
    mode = "default"
    model = "gemini-2.5-pro"
    other_model = "gemini-3.5-flash-lite"
    writes = (".gemini/*",)

    def edits(self, path: Path, old: str, new: str) -> Sequence[Answer]:
        given = {"file_path": str(path), "old_string": old, "new_string": new, "instruction": "so"}
        return [[Call("replace", given)]]

    def model_of(self, request: Mapping[str, Any]) -> str:
        return str(request["model"])


class OpencodeRow(Row):
    """opencode. Its permissions are the talker's: what the person's settings allow is asked."""

    kind = OpencodeAtWork
    mode = "build"
    model = "test/a-model"
    other_model = "test/b-model"
    writes = (".cache/*", ".local/*", ".config/opencode/*", ".opencode/*", ".npm/*", ".bun/*")

    def edits(self, path: Path, old: str, new: str) -> Sequence[Answer]:
        return [[Call("edit", {"filePath": str(path), "oldString": old, "newString": new})]]

    def model_of(self, request: Mapping[str, Any]) -> str:
        return f"test/{request['model']}"


class QwenAtWork(AgentAtWork):
    """Qwen Code."""

    name = "qwen"
    package = "@qwen-code/qwen-code"

    def says(self, *script: Answer, elsewhere: Any = None) -> ModelServer:
        model = super().says(*script, elsewhere=elsewhere)
        self.task.env |= {"OPENAI_API_KEY": "of-a-test", "OPENAI_BASE_URL": f"{model.url}/v1"}
        return model

    def shell(self, command: str) -> Call:
        given = {"command": command, "description": "as asked", "is_background": False}
        return Call("run_shell_command", given)

    def writes(self, path: Path) -> Call:
        return Call("write_file", {"file_path": str(path), "content": "written\n"})


class QwenRow(Row):
    """Qwen Code. It knows one model of the server."""

    kind = QwenAtWork
    writes = (".qwen/*",)

    def prepare(self, agent: AgentAtWork) -> None:
        """Switch off what it asks the model by itself, after a turn."""
        quiet = {
            "memory": {"enableManagedAutoMemory": False},
            "ui": {"enableFollowupSuggestions": False},
        }
        (agent.settings / "settings.json").write_text(json.dumps(quiet))

    def options(self, _agent: AgentAtWork) -> Sequence[str]:
        return ("--auth-type", "openai", "-m", "a-model")

    def edits(self, path: Path, old: str, new: str) -> Sequence[Answer]:
        given = {"file_path": str(path), "old_string": old, "new_string": new}
        return [[Call("read_file", {"file_path": str(path)})], [Call("edit", given)]]


class CopilotAtWork(AgentAtWork):
    """The GitHub Copilot CLI."""

    name = "copilot"
    package = "@github/copilot"

    def __init__(self, task: Sandbox, executable: str) -> None:
        super().__init__(task, executable)
        task.env |= {
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "of-a-test",
            "COPILOT_MODEL": "a-model",
            "COPILOT_OFFLINE": "true",
        }

    def says(self, *script: Answer, elsewhere: Any = None) -> ModelServer:
        model = super().says(*script, elsewhere=elsewhere)
        self.task.env["COPILOT_PROVIDER_BASE_URL"] = f"{model.url}/v1"
        return model

    def shell(self, command: str) -> Call:
        return Call("bash", {"command": command, "description": "as asked"})

    def writes(self, path: Path) -> Call:
        return Call("create", {"path": str(path), "file_text": "written\n"})


class CopilotRow(Row):
    """The GitHub Copilot CLI."""

    kind = CopilotAtWork
    writes = (".copilot/*", ".cache/*")

    def edits(self, path: Path, old: str, new: str) -> Sequence[Answer]:
        return [[Call("edit", {"path": str(path), "old_str": old, "new_str": new})]]


ACP_ROWS: dict[str, Row] = {row.name: row for row in (GeminiRow(), OpencodeRow())}
ACP_ROWS |= {row.name: row for row in (QwenRow(), CopilotRow()) if program(row.name)}
