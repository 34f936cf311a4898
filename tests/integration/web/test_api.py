"""The API does what its OpenAPI document says, whatever is sent: laws over its own description."""

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboards import Dashboard
from sandbox import Sandbox

EXAMPLES = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
ODD_TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["", "base", "1", "0", "-1", "../x", "a" * 300, "\0", "\ud800", "HEAD", "main"]
    ),
)


class Document(dict[str, Any]):
    """The API's description, with a short name where Hypothesis shows the arguments of a law.

    In full it has 50 kB, in which nobody finds the draws that made an answer wrong.
    """

    def __repr__(self) -> str:
        return "<the API's document>"


@pytest.fixture(scope="module")
def dashboard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    sandbox = Sandbox(tmp_path_factory.mktemp("api"))
    sandbox.siding("task", "start", "the task")
    sandbox.siding("run", "--", "sh", "-c", "echo out; echo err >&2; echo x > x.txt")
    sandbox.siding("checkpoint", "nothing new", status=None)
    with Dashboard(sandbox) as running:
        yield running


@pytest.fixture(scope="module")
def document(dashboard: Dashboard) -> Document:
    found = dashboard.json("/api/v1/openapi.json")
    assert isinstance(found, dict)
    return Document(found)


def operations(document: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (method.upper(), path, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]


def values_of(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Return values that a schema allows."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    kind = schema.get("type")
    if kind == "boolean":
        return st.booleans()
    if kind == "integer":
        return st.integers(schema.get("minimum", 0), schema.get("maximum", 1 << 40))
    if kind == "array":
        return st.lists(values_of(schema["items"]), max_size=4)
    if kind == "object":
        known = schema.get("properties", {})
        required = set(schema.get("required", []))
        return st.fixed_dictionaries(
            {name: values_of(known[name]) for name in required},
            optional={name: values_of(known[name]) for name in known if name not in required},
        )
    assert kind == "string", schema
    return st.text(max_size=min(20, schema.get("maxLength", 20)))


def conforms(value: Any, schema: dict[str, Any], document: dict[str, Any]) -> bool:
    """Return whether a value is as a schema says; as much of JSON Schema as the document uses."""
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return False
    if isinstance(value, dict):
        return all(name in value for name in schema.get("required", [])) and all(
            conforms(value[name], each, document)
            for name, each in schema.get("properties", {}).items()
            if name in value
        )
    if isinstance(value, list) and "items" in schema:
        return all(conforms(each, schema["items"], document) for each in value)
    return True


def _is(value: Any, kind: str) -> bool:
    types: dict[str, type | tuple[type, ...]] = {
        "object": dict,
        "array": list,
        "string": str,
        "boolean": bool,
        "null": type(None),
        "integer": int,
        "number": (int, float),
    }
    return isinstance(value, types[kind]) and (kind == "boolean" or not isinstance(value, bool))


def check(document: dict[str, Any], operation: dict[str, Any], status: int, body: bytes) -> None:
    """Assert that an answer is one that the document describes."""
    described = operation["responses"].get(str(status))
    assert described is not None, (operation["operationId"], status, body[:300])
    value = json.loads(body)
    schema = described["content"]["application/json"]["schema"]
    assert conforms(value, schema, document), (operation["operationId"], status, value)


def addressed(path: str, task: str, step: str, decision: str) -> str:
    named = path.replace("{task}", task).replace("{step}", step).replace("{decision}", decision)
    return named.replace("{run}", f"r{step}")


def test_the_document_is_whole(document: dict[str, Any]) -> None:
    found = operations(document)
    assert document["openapi"].startswith("3.1")
    assert len(found) > 15
    assert len({operation["operationId"] for _, _, operation in found}) == len(found)
    for method, path, operation in found:
        named = set(re.findall(r"{(\w+)}", path))
        told = {each["name"] for each in operation["parameters"] if each["in"] == "path"}
        assert named == told
        assert ("requestBody" in operation) == (method == "POST")


@EXAMPLES
@given(data=st.data())
def test_reads_answer_as_described(
    dashboard: Dashboard, document: Document, data: st.DataObject
) -> None:
    reads = [each for each in operations(document) if each[0] == "GET"]
    (task,) = [each["id"] for each in dashboard.json("/api/v1/tasks")["tasks"]]
    for _method, path, operation in reads:
        where = addressed(
            path,
            data.draw(st.sampled_from([task, "nothere1"])),
            data.draw(st.sampled_from(["1", "2", "99", "x", "0"])),
            "nothing",
        )
        query = [
            f"{each['name']}={data.draw(values_of(each['schema']))}"
            for each in operation["parameters"]
            if each["in"] == "query" and data.draw(st.booleans())
        ]
        status, body = dashboard.get(where + ("?" + "&".join(query) if query else ""))
        check(document, operation, status, body)


@EXAMPLES
@given(data=st.data())
def test_writes_without_a_code_change_no_file(
    dashboard: Dashboard, document: Document, data: st.DataObject
) -> None:
    """Bodies as described, and bodies with one thing wrong: never a server error, never an act."""
    (task,) = [each["id"] for each in dashboard.json("/api/v1/tasks")["tasks"]]
    steps = len(dashboard.json(f"/api/v1/tasks/{task}/steps")["steps"])
    for method, path, operation in operations(document):
        if method != "POST" or path == "/api/v1/tasks":  # that one makes a task, as it should
            continue
        schema = operation["requestBody"]["content"]["application/json"]["schema"]
        body = data.draw(values_of(schema))
        if data.draw(st.booleans()):
            name = data.draw(st.sampled_from([*schema["properties"], "unknown"]))
            body = {**body, name: data.draw(st.one_of(ODD_TEXTS, st.none(), st.integers()))}
        raw = json.dumps(body).encode("utf-8", "surrogatepass")
        status, answer = dashboard.post(addressed(path, task, "1", "nothing"), raw)
        check(document, operation, status, answer)
        if "additionalProperties" in schema and "unknown" in body:
            assert status == 400
    assert len(dashboard.json(f"/api/v1/tasks/{task}/steps")["steps"]) == steps
    assert (dashboard.sandbox.workspace() / "x.txt").exists()


def test_starting_a_task_through_the_api(dashboard: Dashboard) -> None:
    status, body = dashboard.post("/api/v1/tasks", {"name": "from a program", "plan_only": True})
    assert status == 200, body
    made = json.loads(body)
    found = {each["id"]: each for each in dashboard.json("/api/v1/tasks")["tasks"]}
    assert found[made["id"]]["name"] == "from a program"
    assert found[made["id"]]["group"] == "planned"
    for bad in (
        {},
        {"name": ""},
        {"name": 1},
        {"name": "x", "shell": "rm -rf ~"},
        {"name": "a\0b"},
    ):
        status, body = dashboard.post("/api/v1/tasks", bad)
        assert status == 400, (bad, body)


def test_an_act_needs_the_code_that_the_terminal_showed(dashboard: Dashboard) -> None:
    task = next(
        each["id"]
        for each in dashboard.json("/api/v1/tasks")["tasks"]
        if each["name"] == "the task"
    )
    wish = {"act": "rollback", "step": "base"}
    status, body = dashboard.post(f"/api/v1/tasks/{task}/plan", wish)
    assert status == 200, body
    plan = json.loads(body)
    assert [group["paths"] for group in plan["groups"]] == [["x.txt"]]
    act = {**wish, "digest": plan["digest"]}
    shown = dashboard.codes
    status, body = dashboard.post(f"/api/v1/tasks/{task}/act", {**act, "code": "aaaaaa"})
    assert (status, json.loads(body)["error"]["code"]) == (409, "wrong_code")
    assert dashboard.post(f"/api/v1/tasks/{task}/code", act)[0] == 200
    code = dashboard.code(shown + 1)
    for other in ({"step": "1"}, {"force": True}, {"act": "close"}):
        status, body = dashboard.post(f"/api/v1/tasks/{task}/act", {**act, **other, "code": code})
        assert status == 409, body
        dashboard.post(f"/api/v1/tasks/{task}/code", act)
        shown += 1
        code = dashboard.code(shown + 1)
    status, body = dashboard.post(f"/api/v1/tasks/{task}/act", {**act, "code": code})
    assert status == 200, body
    assert not (dashboard.sandbox.workspace(task) / "x.txt").exists()
    status, _ = dashboard.post(f"/api/v1/tasks/{task}/act", {**act, "code": code})
    assert status == 409


def test_the_plan_of_an_apply_says_what_was_gone_back_from(dashboard: Dashboard) -> None:
    siding = dashboard.sandbox.siding
    task = str(dashboard.sandbox.json("task", "start", "gone", "--format", "json")["id"])
    for script in ("echo bad >bad; git add -A; git commit -qm oops", None, "echo good >good"):
        if script is None:
            siding("rollback", "-t", task, "--base", "--files")
        else:
            siding("run", "-t", task, "--", "sh", "-ec", script)

    def plan(mode: str) -> dict[str, Any]:
        wish = {"act": "apply", "mode": mode}
        status, body = dashboard.post(f"/api/v1/tasks/{task}/plan", wish)
        assert status == 200, body
        found = json.loads(body)
        assert isinstance(found, dict)
        return found

    usual = plan("commit")
    assert usual["sentence"].startswith("1 commit")
    assert any("as one commit" in note for note in usual["notes"])
    assert [path[11:] for group in usual["groups"] for path in group["paths"]][-1:] == ["oops"]
    assert usual["stops"] == []
    merge = plan("merge")
    assert "oops" in merge["stops"][0]
    assert "--mode squash" in merge["stops"][1]


def test_the_plan_of_a_rollback_names_what_happens_to_git(dashboard: Dashboard) -> None:
    siding = dashboard.sandbox.siding
    task = str(dashboard.sandbox.json("task", "start", "back", "--format", "json")["id"])
    script = "echo bad >bad; git add -A; git commit -qm oops; echo staged >s; git add s"
    siding("run", "-t", task, "--", "sh", "-ec", script)
    status, body = dashboard.post(f"/api/v1/tasks/{task}/plan", {"act": "rollback", "step": "base"})
    assert status == 200, body
    plan = json.loads(body)
    assert "2 changes on git's side" in plan["sentence"]
    (group,) = [each for each in plan["groups"] if each["what"] == "on git's side"]
    assert group["paths"][0].startswith(f"head: siding/back-{task} ")
    assert group["paths"][1] == "index: as HEAD: nothing is staged"
    status, body = dashboard.post(f"/api/v1/tasks/{task}/plan", {"act": "undo"})
    assert "step 0001 is undone" in json.loads(body)["title"]


def test_steps_left_behind_are_marked(dashboard: Dashboard) -> None:
    siding = dashboard.sandbox.siding
    task = str(dashboard.sandbox.json("task", "start", "left", "--format", "json")["id"])
    siding("run", "-t", task, "--", "sh", "-c", "echo 1 >one")
    siding("run", "-t", task, "--", "sh", "-c", "echo 2 >two")
    siding("rollback", "-t", task, "--step", "1")
    text = str(dashboard.get(f"/view/tasks/{task}")[1])
    assert text.count("left behind</span>") == 1
    assert text.index('id="step-2"') < text.index("left behind</span>") < text.index('id="step-1"')
