"""Scripts as people write them: what they return is what JavaScript returns."""

from pathlib import Path
from typing import Any

import pytest

from siding.workflows.javascript.convert import convert
from unit.workflows.world import run_script

FOUND = {"kind": "ok", "output": {"findings": [{"title": "a"}, {"title": "b"}]}, "tokens": 1}
SEED = """
export const meta = {
  name: 'review-changes', description: 'Review', phases: [{ title: 'Review' }, { title: 'Verify' }],
}
const DIMENSIONS = [{ key: 'bugs', prompt: 'find bugs' }, { key: 'perf', prompt: 'find slow' }]
const results = await pipeline(
  DIMENSIONS,
  d => agent(d.prompt, { label: `review:${d.key}`, phase: 'Review', schema: { type: 'object' } }),
  review => parallel(
    (review.findings || []).map(f => () => agent(`refute: ${f.title}`, { phase: 'Verify' }))
  )
)
return results.flat().filter(Boolean)
"""
CASES: dict[str, tuple[str, Any, Any]] = {
    "seed": (SEED, None, ["did refute: a", "did refute: b"] * 2),
    "closures in a loop": (
        "const t = []; for (const x of args) { const y = x + 1; t.push(() => agent(`n${y}`)) }\n"
        "return await parallel(t)",
        [1, 2],
        ["did n2", "did n3"],
    ),
    "a loop that fills": (
        "const seen = new Set(); let round = 0\n"
        "while (round < 3) { round++; const r = await agent('r' + round)\n"
        "if (seen.has(r)) continue; seen.add(r) }\nreturn [round, seen.size, [...seen].join('|')]",
        None,
        [3, 3, "did r1|did r2|did r3"],
    ),
    "empty lists are true": (
        "const { a, b = 'x', c } = args\nreturn [a ? 1 : 2, b, c ?? 'none', a.length || 'no', !c]",
        {"a": []},
        [1, "x", "none", "no", True],
    ),
    "texts": (
        "return [`${args.n / 2}`, 'a' + 1 + 2, 1 + 2 + 'a', [1, null, 2].join('-'),"
        " String(true), 'a-b'.split('-').map(s => s.toUpperCase()), `${[1, [2, 3]]}`,"
        " '7'.padStart(3, '0')]",
        {"n": 6},
        ["3", "a12", "3a", "1--2", "true", ["A", "B"], "1,2,3", "007"],
    ),
    "items that are missing": (
        "const xs = args.xs\nreturn [xs[5] === undefined, xs[xs.length - 1], args.none?.deep,"
        " xs[0 - 1] ?? 'x', Object.keys(args), Object.entries({ k: 1 }).map(([k, v]) => k + v)]",
        {"xs": [1, 2]},
        [True, 2, None, "x", ["xs"], ["k1"]],
    ),
    "functions": (
        "function twice(f, x) { return f(f(x)) }\nconst add = (n, by = 2) => n + by\n"
        "const all = async (xs) => { let s = 0; for (let i = 0; i < xs.length; i++) s += xs[i];"
        " return s }\nreturn [twice(add, 1), add(1, 5), await all([1, 2, 3])]",
        None,
        [5, 6, 6],
    ),
    "errors": (
        "let said = ''\ntry { throw new Error('no ' + args) } catch (e) { said = e.message }"
        " finally { said += '!' }\nreturn said",
        "way",
        "no way!",
    ),
    "orders": (
        "const xs = [...args].sort((a, b) => b.n - a.n).slice(0, 2)\nconst by = {}\n"
        "for (const x of args) { (by[x.k] = by[x.k] || []).push(x.n) }\n"
        "return [xs.map(x => x.n), xs.reduce((s, x) => s + x.n, 0), Math.max(...xs.map(x => x.n))]",
        [{"n": 1, "k": "a"}, {"n": 3, "k": "b"}, {"n": 2, "k": "a"}],
        None,  # a change in the middle of an expression is left by hand
    ),
    "groups": (
        "const by = {}\nargs.forEach(x => { if (!by[x.k]) by[x.k] = []; by[x.k].push(x.n) })\n"
        "return [by, args.some(x => x.n > 2), args.every(x => x.n), args.find(x => x.n === 2)?.k,"
        " [1, 2, 1].filter((x, i, all) => true).length, JSON.stringify({ a: [1, 'é'] })]",
        [{"n": 1, "k": "a"}, {"n": 3, "k": "b"}, {"n": 2, "k": "a"}],
        None,
    ),
    "batches": (
        "const out = []\nfor (let i = 0; i < args.length; i += 2) {\n"
        "  const batch = args.slice(i, i + 2)\n"
        "  out.push(...(await parallel(batch.map(x => () => agent(`b${x}`)))))\n}\n"
        "const [first, ...rest] = [1, 2]\nreturn out",
        [1, 2, 3],
        None,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_script_returns_what_it_returns_in_javascript(name: str, tmp_path: Path) -> None:
    source, args, expected = CASES[name]
    converted = convert(source, "some.js")
    if expected is None:
        assert converted.left  # and nothing wrong instead
        return
    assert not converted.left
    agents = {"find bugs": [FOUND], "find slow": [FOUND], "*": "did <prompt>"}
    ran = run_script(tmp_path / "journal.jsonl", converted.source, agents, args=args)
    assert ran.done.value == expected, (ran.done.error, converted.source)
