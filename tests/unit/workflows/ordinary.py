"""What people write in a script without a thought; all of it works, and as in Python.

Each is the body of an ``async def``. Besides Python it uses `agent`, which answers
``done:<prompt>``, and `gather` and `sleep` of asyncio.
"""

_SNIPPETS = r"""
x = [n * n for n in range(5)]; return x
return {k: v for k, v in zip('abc', range(3))}
return sorted({3, 1, 2})
return sum(n for n in range(10) if n % 2)
a, *b, c = range(5); return [a, b, c]
return (lambda x, y=2: x * y)(3)
return f"{3.14159:.2f} {'x':>5} {10:#x} {1_000_000:,}"
return "{0} {name} {0[0]} {1:>4}".format("ab", 7, name="n")
return "{a[k]} {b.real}".format(a={"k": 1}, b=2)
return "{x}-{y}".format_map({"x": 1, "y": 2})
return list(map("<{}>".format, [1, 2]))
return "%s %05d %r" % ("a", 42, "b")
return "a,b,,c".split(",")
return " x ".strip().upper().center(7, "*")
return "abc"[::-1] + "abc"[1:]
return [x for row in [[1, 2], [3]] for x in row]
return list(reversed([1, 2, 3]))
return [max(3, 7), min([4, 2]), abs(-3), round(2.567, 1), divmod(7, 3), pow(2, 10, 1000)]
return [any([0, 1]), all([]), bool(""), int("12", 8), float("1.5"), str(None)]
return list(enumerate("ab", 1))
return list(zip([1, 2], "ab", strict=True))
return list(filter(None, [0, 1, "", 2]))
return [chr(97), ord("a"), hex(255), bin(5), oct(8), ascii("é")]
return sorted(["b", "A", "c"], key=str.lower, reverse=True)
return isinstance(True, int) and issubclass(bool, int) and callable(len)
return [type(1).__name__, type("x") is str, isinstance(int, type)]
return str(type(1))
d = {"a": 1}; d |= {"b": 2}; d.setdefault("c", []).append(3); return d
d = {"a": 1, "b": 2}; del d["a"]; return [d, d.pop("b"), d.get("z", 9)]
x = [3, 1]; x.sort(); x.extend([5]); x.insert(0, 9); x.remove(3); return x
return [*[1, 2], *(3,)] + list({**{"a": 1}, "b": 2}.items())
return (n := 10) + n
return [1, 2, 3][-1], "abc".find("c"), [1, 2].index(2)
return 7 // 2, -7 // 2, 7 % -3, 2 ** 0.5, 1e3, 0x10, 1 if [] else 2
return bytes([104, 105]).decode() + "é".encode().hex()
return "a\tb".expandtabs(4), "é".encode("latin-1").hex(), "x".encode("utf-16-le").hex()
s = slice(1, 3); return [1, 2, 3, 4][s]
return next(iter([]), "none"), list(iter([1, 2]))
return [frozenset([1, 2]) == {2, 1}, sorted({1, 2} & {2, 3}), sorted({1} | {2})]
return complex(1, 2).real, (1).bit_length(), (255).to_bytes(2, "big").hex()
return "".join(c for c in "hello" if c not in "aeiou")
return [i for i, c in enumerate("banana") if c == "a"]
if True: pass\nelse: return 1\nreturn 2
for n in range(3):\n    if n == 5: break\nelse:\n    return "no break"
n = 0\nwhile n < 3:\n    n += 1\n    if n == 2: continue\nreturn n
try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    return str(e)
try:\n    int("x")\nexcept (TypeError, ValueError):\n    return "v"\nfinally:\n    y = 1
try:\n    x = 1\nexcept KeyError:\n    x = 2\nelse:\n    x = 3\nfinally:\n    x += 10\nreturn x
try:\n    raise ValueError("a") from KeyError("b")\nexcept ValueError as e:\n    return repr(e)
try:\n    raise ExceptionGroup("g", [ValueError(1), KeyError(2)])\nexcept* ValueError as g:\n    x = 1\nexcept* KeyError:\n    y = 1\nreturn x + y
class MyError(Exception):\n    pass\ntry:\n    raise MyError("no")\nexcept MyError as e:\n    return e.args
class E(Exception):\n    def __init__(self, code):\n        super().__init__(f"code {code}")\n        self.code = code\ntry:\n    raise E(4)\nexcept E as e:\n    return [str(e), e.code]
try:\n    assert 1 == 2, "math"\nexcept AssertionError as e:\n    return str(e)
try:\n    {}["k"]\nexcept KeyError as e:\n    e.add_note("n")\n    return e.args[0]
def f(a, /, b, *, c=3, **kw):\n    return a + b + c + len(kw)\nreturn f(1, b=2, z=1)
def f(*a, **k):\n    return [list(a), k]\nreturn f(1, 2, x=3)
def outer():\n    n = 0\n    def inc():\n        nonlocal n\n        n += 1\n        return n\n    return inc\ni = outer()\nreturn [i(), i()]
def gen():\n    yield 1\n    yield from [2, 3]\nreturn list(gen())
def gen():\n    got = yield 1\n    yield got\ng = gen()\nnext(g)\nreturn g.send(5)
def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\nreturn fact(20)
def deco(f):\n    def inner(*a):\n        return f(*a) + 1\n    return inner\n@deco\ndef g(x):\n    return x * 2\nreturn g(4)
from functools import wraps\ndef deco(f):\n    @wraps(f)\n    def inner(*a):\n        return f(*a)\n    return inner\n@deco\ndef g(x):\n    "doc"\n    return x\nreturn [g(1), g.__name__, g.__doc__]
class A:\n    def __init__(self, x):\n        self.x = x\n    def double(self):\n        return self.x * 2\nreturn A(3).double()
class A:\n    kind = "a"\n    def hello(self):\n        return "A"\nclass B(A):\n    def hello(self):\n        return super().hello() + "B"\nreturn [B().hello(), B.kind]
class P:\n    def __init__(self, v):\n        self._v = v\n    @property\n    def v(self):\n        return self._v\n    @v.setter\n    def v(self, n):\n        self._v = n\np = P(1)\np.v = 5\nreturn p.v
class C:\n    count = 0\n    @classmethod\n    def make(cls):\n        cls.count += 1\n        return cls()\n    @staticmethod\n    def add(a, b):\n        return a + b\nC.make()\nreturn [C.count, C.add(1, 2)]
class V:\n    def __init__(self, x):\n        self.x = x\n    def __add__(self, o):\n        return V(self.x + o.x)\n    def __eq__(self, o):\n        return self.x == o.x\n    def __repr__(self):\n        return f"V({self.x})"\nreturn [repr(V(1) + V(2)), V(1) == V(1)]
class S:\n    def __len__(self):\n        return 3\n    def __getitem__(self, i):\n        if i >= 3: raise IndexError\n        return i\n    def __contains__(self, x):\n        return x == 1\n    def __bool__(self):\n        return True\nreturn [len(S()), list(S()), 1 in S(), bool(S())]
class It:\n    def __init__(self):\n        self.n = 0\n    def __iter__(self):\n        return self\n    def __next__(self):\n        self.n += 1\n        if self.n > 2: raise StopIteration\n        return self.n\nreturn list(It())
class Ctx:\n    def __enter__(self):\n        return "in"\n    def __exit__(self, *a):\n        return True\nwith Ctx() as c:\n    raise ValueError\nreturn c
class T:\n    def __call__(self, x):\n        return x + 1\n    def __lt__(self, o):\n        return True\n    def __hash__(self):\n        return 1\nreturn T()(1)
class N:\n    __slots__ = ("a", "_b")\n    def __init__(self):\n        self.a, self._b = 1, 2\nreturn N().a
class M:\n    def __init__(self):\n        self.__hidden = 4\n    def get(self):\n        return self.__hidden\nreturn M().get()
class Node:\n    def __init__(self, v, n=None):\n        self.v, self.next = v, n\nn = Node(1, Node(2))\nout = []\nwhile n:\n    out.append(n.v)\n    n = n.next\nreturn out
class Q:\n    def __init__(self):\n        self._items = []\n    def same(self, other):\n        return self._items == other._items\nreturn Q().same(Q())
class A: pass\na, b = A(), A()\nd = {a: 1, b: 2}\nreturn [d[a], d[b], len({a, b, a}), a == a, a != b]
from dataclasses import dataclass, field, asdict, replace\n@dataclass\nclass P:\n    x: int\n    tags: list = field(default_factory=list)\np = P(1)\nreturn [asdict(p), replace(p, x=2).x, p == P(1), repr(p)[-16:]]
from dataclasses import dataclass\n@dataclass(frozen=True, order=True)\nclass P:\n    x: "int"\n    y: "int | None" = None\nreturn [sorted([P(2, 0), P(1, 0)])[0].x, len({P(1), P(1)})]
from dataclasses import dataclass\n@dataclass(slots=True, kw_only=True)\nclass P:\n    x: int = 3\n    def __post_init__(self):\n        self.x += 1\nreturn P(x=1).x
from enum import Enum, auto\nclass C(Enum):\n    RED = auto()\n    BLUE = auto()\nreturn [C.RED.name, C(2).name, [c.value for c in C], C["RED"] is C.RED]
from enum import StrEnum, IntEnum, IntFlag\nclass S(StrEnum):\n    A = "a"\nclass F(IntFlag):\n    X = 1\n    Y = 2\nreturn [f"{S.A}", S.A == "a", int(F.X | F.Y)]
from typing import NamedTuple\nclass P(NamedTuple):\n    x: int\n    y: int = 2\np = P(1)\nreturn [list(p), p._replace(x=5).x, p._asdict(), p.y]
from collections import namedtuple\nP = namedtuple("P", "a b")\nreturn [P(1, 2).b, P._fields]
from typing import TypedDict, Optional, Any, Literal, Protocol, Generic, TypeVar\nclass D(TypedDict):\n    a: int\nT = TypeVar("T")\nclass Box(Generic[T]):\n    def __init__(self, v: T) -> None:\n        self.v = v\ndef f(x: Optional[int] = None) -> "list[Any]":\n    return [x]\nreturn [D(a=1), Box(2).v, f()]
from abc import ABC, abstractmethod\nclass A(ABC):\n    @abstractmethod\n    def f(self): ...\nclass B(A):\n    def f(self):\n        return 1\ntry:\n    A()\nexcept TypeError:\n    return B().f()
from contextlib import contextmanager, suppress, ExitStack, nullcontext\n@contextmanager\ndef c():\n    yield 5\nwith c() as x, suppress(KeyError):\n    {}["a"]\nreturn x
from contextlib import asynccontextmanager\n@asynccontextmanager\nasync def c():\n    yield await agent("a")\nasync with c() as x:\n    return x
match {"type": "a", "n": [1, 2]}:\n    case {"type": "a", "n": [first, *rest]}:\n        return [first, rest]
match 5:\n    case int(n) if n > 3:\n        return n\n    case _:\n        return 0
match "go north".split():\n    case ["go", ("north" | "south") as way]:\n        return way
from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int\nmatch P(1, 2):\n    case P(x=1, y=b):\n        return b
from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int\nmatch P(1, 2):\n    case P(a, b):\n        return [a, b]
import json\nreturn json.loads(json.dumps({"a": [1, None, True], "é": 1.5}, indent=2, sort_keys=True))
import json\ntry:\n    json.loads("{")\nexcept json.JSONDecodeError as e:\n    return e.pos
import re\nreturn [re.findall(r"\d+", "a1b22"), re.sub(r"(\w)", lambda m: m[1].upper(), "ab"), re.split(r"[,;]", "a,b;c")]
import re\nm = re.match(r"(?P<k>\w+)=(?P<v>\w+)", "a=b")\nreturn [m.groupdict(), m.span(), bool(re.fullmatch("a", "b"))]
import re\nreturn [m.group(1) for m in re.compile(r"<(\w+)>", re.I | re.M).finditer("<a><B>")]
import math\nreturn [math.sqrt(16), math.floor(2.7), round(math.pi, 3), math.gcd(12, 18), math.inf > 1, math.isclose(0.1 + 0.2, 0.3)]
import itertools as it\nreturn [list(it.chain([1], [2])), list(it.islice(it.count(), 3)), list(it.combinations("abc", 2)), [k for k, g in it.groupby("aab")], list(it.batched("abc", 2)) if hasattr(it, "batched") else []][:4]
from itertools import product, accumulate, zip_longest, pairwise\nreturn [len(list(product("ab", repeat=2))), list(accumulate([1, 2, 3])), list(zip_longest([1], [2, 3])), list(pairwise("abc"))]
from functools import reduce, partial, lru_cache, cache, cmp_to_key\n@cache\ndef fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\nreturn [fib(50), reduce(lambda a, b: a * b, [1, 2, 3]), partial(pow, 2)(3), sorted([2, 1], key=cmp_to_key(lambda a, b: a - b))]
from functools import cached_property, total_ordering\nclass A:\n    @cached_property\n    def x(self):\n        return 4\nreturn A().x
from collections import Counter, defaultdict, deque, OrderedDict, ChainMap\nd = defaultdict(list)\nd["a"].append(1)\nq = deque([1, 2], maxlen=2)\nq.append(3)\nreturn [Counter("abca").most_common(1), dict(d), list(q), ChainMap({"a": 1}, {"b": 2})["b"]]
from collections.abc import Mapping, Callable\nreturn isinstance({}, Mapping)
import collections.abc\nreturn isinstance([], collections.abc.Sequence)
import statistics\nreturn [statistics.mean([1, 2, 3]), statistics.median([1, 5, 2]), round(statistics.stdev([1, 2, 3]), 2)]
import heapq, bisect\nh = [3, 1, 2]\nheapq.heapify(h)\nreturn [heapq.heappop(h), heapq.nlargest(1, h), bisect.bisect([1, 3], 2)]
import hashlib, base64\nreturn [hashlib.sha256(b"x").hexdigest()[:8], hashlib.md5(b"x").hexdigest()[:4], base64.b64encode(b"hi").decode()]
import string, textwrap\nreturn [string.ascii_lowercase[:3], textwrap.dedent("  a"), textwrap.shorten("hello world foo", 11), string.Template("$a").substitute(a=1)]
from datetime import datetime, timedelta, timezone, date\nd = datetime(2024, 1, 31, tzinfo=timezone.utc)\nreturn [d.isoformat(), (d + timedelta(days=1)).strftime("%Y-%m-%d"), date(2024, 2, 29).weekday(), d.timestamp()]
from datetime import datetime, timezone\nreturn [datetime.fromisoformat("2024-01-02T03:04:05").hour, datetime.strptime("2024-01-02", "%Y-%m-%d").day, datetime.fromtimestamp(0, timezone.utc).year]
import datetime as dt\nreturn [str(dt.timedelta(hours=25)), dt.date(2020, 1, 1) < dt.date(2020, 1, 2), dt.time(1, 2).isoformat()]
from decimal import Decimal, ROUND_HALF_UP\nfrom fractions import Fraction\nreturn [str(Decimal("0.1") + Decimal("0.2")), str(Decimal("2.5").quantize(Decimal("1"), ROUND_HALF_UP)), str(Fraction(1, 3) + 1)]
import copy\na = {"x": [1]}\nb = copy.deepcopy(a)\nb["x"].append(2)\nreturn [a, b, copy.copy(a) is not a]
import difflib\nreturn [list(difflib.unified_diff(["a"], ["b"], lineterm=""))[-1], difflib.get_close_matches("appel", ["apple", "pear"]), round(difflib.SequenceMatcher(None, "ab", "ac").ratio(), 2)]
import operator\nreturn [operator.itemgetter(1)([5, 6]), operator.add(1, 2), sorted([{"a": 2}, {"a": 1}], key=operator.itemgetter("a"))[0]]
import random\nr = random.Random(42)\nx = [1, 2, 3, 4]\nr.shuffle(x)\nreturn [r.randint(1, 6), r.choice("abc"), x, r.sample(range(10), 3)]
from graphlib import TopologicalSorter\nreturn list(TopologicalSorter({"b": {"a"}, "c": {"b"}}).static_order())
import pprint, html, unicodedata\nreturn [pprint.pformat({"a": 1}), html.escape("<"), unicodedata.name("é")]
from textwrap import indent, fill\nreturn [indent("a", "  "), fill("a b c", 3)]
return await agent("one")
async def f(n):\n    return await agent(f"n{n}")\nreturn [await f(1), await f(2)]
import asyncio\nreturn await asyncio.gather(agent("a"), agent("b"))
import asyncio\nasync def bad():\n    raise ValueError("x")\nr = await asyncio.gather(agent("a"), bad(), return_exceptions=True)\nreturn [r[0], type(r[1]).__name__]
import asyncio\nasync def bad():\n    raise ValueError("x")\ntry:\n    await asyncio.gather(agent("a"), bad())\nexcept ValueError as e:\n    return str(e)
import asyncio\nawait asyncio.sleep(0)\nreturn 1
async def gen():\n    for n in range(2):\n        yield await agent(str(n))\nreturn [x async for x in gen()]
results = [await agent(str(n)) for n in range(3)]\nreturn results
return {n: await agent(n) for n in "ab"}
x = "a" if (await agent("q")).startswith("done") else "b"\nreturn x
items = []\nfor n in range(2):\n    items.append(await agent(f"with {items}"))\nreturn items
getattr_works = getattr("abc", "upper")()\nreturn [getattr_works, hasattr(1, "real"), getattr(1, "nope", 7)]
class A: pass\na = A()\nsetattr(a, "x", 3)\nreturn [a.x, getattr(a, "x")]
class A:\n    def __init__(self):\n        self._x = 1\n    def get(self, name):\n        return getattr(self, "_" + name)\nreturn A().get("x")
__author__ = "me"\nif __name__ == "__main__":\n    return 0\nreturn 1
print("hello", 1, sep="-", end="")\nreturn 1
"a docstring"\nreturn 1
from __future__ import annotations\ndef f(x: Undefined) -> Nowhere:\n    return x\nreturn f(1)
x: int = 5\ny: "list[int]" = [x]\nreturn y
def f():\n    '''doc with {braces} and obj.__dict__'''\n    return "explain {x.__init__} to me"\nreturn f()
return "segfault at 0x7f00dead in <Foo object at 0x7f0000000010>"
lines = '''\n  a\n  b\n'''.strip().splitlines()\nreturn [line.strip() for line in lines]
a = b = [1]\nb.append(2)\nreturn a is b
return sum([[1], [2]], [])
return sorted({"b": 1, "a": 2}.items(), key=lambda kv: (-kv[1], kv[0]))
"""

SNIPPETS = tuple(line.replace("\\n", "\n") for line in _SNIPPETS.strip().splitlines())
