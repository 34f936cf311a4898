"""Any text is read, or refused with its place; what is not known is left by name."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from siding.workflows.errors import ScriptError
from siding.workflows.javascript.convert import convert
from siding.workflows.javascript.errors import JavaScriptError
from siding.workflows.script import read_script

_WORDS = """
const let x y = => ( ) [ ] { } , ; . ?. ?? || && + - ++ += ! `a${ ` } 'text' "t" 1 .5 await async
for of in if else while try catch finally throw return function agent parallel map filter push /r/
// /* */ \n ... new Set Error args null undefined typeof === < : ? class switch export meta
""".split(" ")


@given(
    st.one_of(st.text(max_size=60), st.lists(st.sampled_from(_WORDS), max_size=25).map(" ".join))
)
def test_no_text_breaks_the_translation(source: str) -> None:
    try:
        converted = convert(source, "any.js")
    except JavaScriptError as error:
        where = (error.line, error.column)
    else:
        ast.parse(converted.source)
        where = (1, 1)
    assert min(where) >= 1


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("const m = /a/.test(text)", "regular expression"),
        ("switch (x) { case 1: break }\nreturn 1", "switch"),
        ("class A { b() { return 1 } }\nreturn 1", "class"),
        ("const now = new Date()", "no clock"),
        ("const n = Math.random()", "seed"),
        ("agent('x')", "nobody awaits"),
        ("const x: number = 1", "TypeScript"),
        ("const n = new Foo()", "`new Foo`"),
        ("const n = new args.Foo(1)", "`new …`"),
        ("const f = async\n(x) => x", "'=>' is not expected here"),
        ("return nobody", "nobody"),
        ("return await agent('p', { cwd: '/' })", "cwd"),
        ("for (const x of args) { if (x) break; keep = () => x }", "keep"),
    ],
)
def test_what_is_not_known_is_left_and_not_run(source: str, why: str) -> None:
    converted = convert(f"const text = 'a'\n{source}\n", "some.js")
    assert [place.line for place in converted.left] == [2]
    with pytest.raises(ScriptError) as refused:
        read_script(converted.source)
    assert why in str(refused.value) or why in converted.left[0].why


def test_brackets_that_do_not_match_have_their_place() -> None:
    with pytest.raises(JavaScriptError, match="line 2, column 8"):
        convert("// one\nreturn (1", "some.js")


def test_comments_and_licence_stay() -> None:
    source = "/*\n * Copyright Someone\n */\nconst a = 1 // one\n// last\nreturn a\n// end\n"
    lines = convert(source, "some.js").source.splitlines()
    assert [line for line in lines if line.startswith("#")][1:] == [
        "# Copyright Someone",
        "# one",
        "# last",
        "# end",
    ]
