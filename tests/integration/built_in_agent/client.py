"""A program that drives the agent over two streams of JSON, as the SDKs of Claude Code do."""

import json
import subprocess
from typing import Any

from sandbox import Sandbox
from warm import put_program


class Client:
    """A program that drives the agent over two streams of JSON."""

    def __init__(self, sandbox: Sandbox, *flags: str) -> None:
        program = put_program(sandbox.directory / "warm")
        words = [str(program), "agent", "-p", "--input-format", "stream-json"]
        words += ["--output-format", "stream-json", "--permission-prompt-tool", "stdio"]
        words += ["--model", f"scripted:{sandbox.directory / 'script.yaml'}", *flags]
        self.process = subprocess.Popen(
            words,
            cwd=sandbox.repo,
            env=sandbox.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdin
        assert self.process.stdout
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def send(self, **line: Any) -> None:
        self.stdin.write(json.dumps(line) + "\n")
        self.stdin.flush()

    def prompt(self, text: str) -> None:
        self.send(type="user", message={"role": "user", "content": text})

    def until(self, kind: str) -> dict[str, Any]:
        for line in self.stdout:
            found: dict[str, Any] = json.loads(line)
            if found["type"] == kind:
                return found
        raise AssertionError(f"no {kind} came")

    def asked(self) -> dict[str, Any]:
        return self.until("control_request")

    def answer(self, request: dict[str, Any], **fields: Any) -> None:
        response = {"subtype": "success", "request_id": request["request_id"], "response": fields}
        self.send(type="control_response", response=response)

    def end(self) -> int:
        self.stdin.close()
        self.stdout.close()
        return self.process.wait(timeout=60)
