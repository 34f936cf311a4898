"""Fragments in families: what comes out gives JavaScript's answer, or is left by name.

The answers were node's when they were written down; where there is a node it is asked again.
"""

import asyncio
import builtins
import json
import shutil
import subprocess
from typing import Any

import pytest

from siding.workflows.child.body import body_of, compile_body
from siding.workflows.javascript.convert import convert

SAME: dict[str, dict[str, Any]] = {
    "what is not a number is not true": {
        "const n = Number('x'); return n ? 1 : 2": 2,
        "return Number('x') || 7": 7,
        "const n = +'y'; return !n": True,
        "return [0, 2].filter(x => Number(x)).length": 1,
    },
    "numbers in texts": {
        "return ['1_000', 'inf', '0x10', '', ' 12 ', '1e3', '.5', '5.', '-0b1', '0b11'].map(Number)"
        ".map(String).join()": "NaN,NaN,16,0,12,1000,0.5,5,NaN,3",
    },
    "numbers as texts": {
        "return `${1e-7} ${0.00001} ${1e21} ${1.5e300} ${0.1 + 0.2} ${-0.5} ${1 / 3} ${6 / 2}`": "1"
        "e-7 0.00001 1e+21 1.5e+300 0.30000000000000004 -0.5 0.3333333333333333 3",
        "const n = 123456789012345680000.5; return `${n}`": "123456789012345680000",
    },
    "JSON": {
        "return JSON.stringify([0.00001, 1e-7, 1 / 4, 4 / 2, 'é\"', true, null, {}])": "[0.00001,1e"
        '-7,0.25,2,"é\\"",true,null,{}]',
        "const n = Number('x'); return JSON.stringify({ n })": '{"n":null}',
        "return JSON.stringify({ b: 1, a: [1, { c: [] }] }, null, 2)": '{\n  "b": 1,\n  "a": [\n   '
        ' 1,\n    {\n      "c": []\n    }\n  ]\n}',
    },
    "names that are numbers come first": {
        "const o = { b: 1, 2: 2, a: 3, 1: 4 }; return Object.keys(o)": ["1", "2", "b", "a"],
        "const o = {}; o[10] = 'x'; o[9] = 'y'; o.b = 1; return [Object.values(o),"
        " Object.entries(o), JSON.stringify(o)]": [
            ["y", "x", 1],
            [["9", "y"], ["10", "x"], ["b", 1]],
            '{"9":"y","10":"x","b":1}',
        ],
        "const r = []; for (const k in { b: 1, 3: 2 }) { r.push(k) } return r": ["3", "b"],
        "const o = Object.fromEntries([1, true].map(x => [x, 'v'])); return [o[1], o.true]": [
            "v",
            "v",
        ],
    },
    "names of items": {
        "return [2 in [5, 2], '0' in ['x'], 1 in { 1: 'a' }, 'b' in { a: 1 }]": [
            False,
            True,
            True,
            False,
        ],
        "const xs = ['a', 'b'], r = []; for (const i in xs) { r.push(xs[i]) } return r": ["a", "b"],
        "const xs = ['a', 'b'], k = 'length'; return [xs[k], xs['0'], xs['01']]": [2, "a", None],
    },
    "patterns": {
        "function f({ a }, o) { o.a = 2; return a } const o = { a: 1 }; return f(o, o)": 1,
        "const xs = [{ a: 1 }, { a: 2 }], r = []; for (const { a } of xs) { xs[0].a = 9;"
        " xs[1].a = 9; r.push(a) } return r": [1, 9],
        "let n = 0; const next = () => { n += 1; return n }\n"
        "function f({ a = next() }) { return a + a } return [f({}), n]": [2, 1],
        "function f({ xs = [] }) { xs.push(1); return xs } return f({})": [1],
        "const [p, q = args ? 3 : 4] = [1, 2]; return [p, q]": [1, 2],
        "const { p, q = args || 4 } = { p: 1, q: 0 }; return [p, q]": [1, 0],
        "return [{ a: 1 }, {}].map(({ a, b = a ? 'x' : 'y' }) => b)": ["x", "y"],
    },
    "lists": {
        "const a = [1, 2], r = []; a.forEach(x => { if (x < 3) { a.push(9) } r.push(x) });"
        " return r": [1, 2],
        "const m = new Map(); m.set('a', 1); return [...m]": [["a", 1]],
        "const n = Number('x'); return [n].includes(n)": True,
        "return Number.isInteger(4 / 2) && !Number.isInteger(0.5)": True,
        "return Boolean('' || 'a')": True,
        "return 3 * 4 / 2 * [1, 2].length": 12,
    },
}
LOUD = (
    "const x = null; return x + 1",
    "const o = {}; return o.a + 1",
    "const x = '3'; return x * 2",
    "const x = 2, s = 'ab'; return s * x",
)
LEFT: dict[str, str] = {
    "if (args) { var y = 3 } return 1": "`var` in a block",
    "var x = 1; var x = 2; return x": "`var` of a name",
    "const t = []; for (var i = 0; i < 3; i++) { t.push(() => i) } return t.length": "`var` in",
    "for (var x of [1]) { log(x) }": "`var` in a loop",
    "let n = 0; const inc = () => ++n; return inc()": "gives back that changes",
    "const c = () => { let n = 0; return () => ++n }; return c()()": "gives it back",
    "return (255).toString(16)": "`toString` with an argument",
    "const [a] = new Set([1]); return a": "a pattern of a set",
    "return Array.from(new Map([[1, 2]]))": "`Array.from` of a map",
    "return Object.keys(new Map())": "`Object.keys` of a map",
    "return JSON.stringify(new Set([1]))": "`JSON.stringify` of a set",
    "return [10] < [9]": "has no order",
    "const o = { toString() { return 'q' } }; return `${o}`": "of its own",
    "return 2 ** 3": "the operator **",
    "return 5 & 3": "the operator &",
    "let a; a = (1, 2); return a": "with a comma",
    "return /a/.test('cat')": "a regular expression",
    "outer: for (const a of [1]) { continue outer }": "",
    "switch (args) { case 1: return 1 }": "",
    "const o = { get a() { return 5 } }; return o.a": "",
    "let i = 0; return [i++, i++]": "in the middle",
}


def answer(source: str) -> Any:
    """Return what the translation returns, where nothing is to be awaited."""
    converted = convert(source, "some.js")
    assert not converted.left, (source, converted.left)
    names = {"__builtins__": builtins, "args": None, "__format_of__": getattr}
    return asyncio.run(body_of(compile_body(converted.source, "some"), names)())


@pytest.mark.parametrize("family", SAME)
def test_it_gives_the_answer_of_javascript(family: str) -> None:
    assert {source: answer(source) for source in SAME[family]} == SAME[family]


@pytest.mark.parametrize("source", LOUD)
def test_what_javascript_makes_a_number_of_raises_here(source: str) -> None:
    with pytest.raises(TypeError):
        answer(source)


@pytest.mark.parametrize("source", LEFT)
def test_what_is_not_known_is_left_with_its_line(source: str) -> None:
    left = convert(f"\n{source}", "some.js").left
    assert [each for each in left if LEFT[source] in each.why and each.line == 2 and each.why], left


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_the_answers_are_those_of_node() -> None:
    wanted = {source: told for family in SAME.values() for source, told in family.items()}
    program = (
        "const AsyncFunction = (async () => {}).constructor\n"
        "const all = JSON.parse(require('fs').readFileSync(0, 'utf8')).map(\n"
        "  source => new AsyncFunction('args', source)(null))\n"
        "Promise.all(all).then(told => console.log(JSON.stringify(told)))"
    )
    asked = subprocess.run(
        ["node", "-e", program],
        input=json.dumps(list(wanted)).encode(),
        capture_output=True,
        check=True,
    )
    assert dict(zip(wanted, json.loads(asked.stdout), strict=True)) == wanted
