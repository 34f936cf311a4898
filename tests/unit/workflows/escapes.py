"""Attempts to leave a script, or to make it depend on more than its arguments and calls.

`REFUSED` are found by the check. `CONTAINED` are run without it: they get past it, or would with
another spelling. `{outside}` is a file that must not be read, `{target}` one that must not be made.
`UNSTEADY` are run twice without the check, and must say the same or fail.
"""

REFUSED: dict[str, str] = {
    # imports
    "import os": "import os\nreturn os.environ",
    "import sys": "import sys\nreturn sys.modules",
    "import time": "import time\nreturn time.time()",
    "import in a function": "def f():\n    import subprocess\nreturn f()",
    "import from": "from pathlib import Path\nreturn Path('x').read_text()",
    "import star": "from json import *\nreturn 1",
    "import relative": "from . import x\nreturn 1",
    "import beside": "from .helpers import x\nreturn 1",
    "import of a part": "import os.path\nreturn 1",
    "import as": "import socket as json\nreturn json",
    "import io": "import io\nreturn io.open('x')",
    "import threading": "import threading\nreturn threading",
    "import importlib": "import importlib\nreturn importlib.import_module('os')",
    "import ctypes": "import ctypes\nreturn ctypes",
    "import gc": "import gc\nreturn gc.get_objects()",
    "import inspect": "import inspect\nreturn inspect.currentframe()",
    "import pickle": "import pickle\nreturn pickle.loads(args)",
    "import uuid": "import uuid\nreturn str(uuid.uuid4())",
    "import secrets": "import secrets\nreturn secrets.token_hex()",
    "import tempfile": "import tempfile\nreturn tempfile.mkdtemp()",
    "import requests": "import requests\nreturn 1",
    "import builtins": "import builtins\nreturn builtins.open",
    "import __main__": "import __main__\nreturn 1",
    "import siding": "from siding.workflows import allowed\nreturn 1",
    "dunder import": "return __import__('os')",
    "dunder import in a variable": "f = __import__\nreturn f('os')",
    "dunder builtins": "return __builtins__['open']",
    "dunder loader": "return __loader__",
    "dunder spec": "return __spec__",
    # built-in functions
    "open": "return open('x').read()",
    "open in a variable": "f = open\nreturn f('x')",
    "eval": "return eval('1')",
    "exec": "exec('1')\nreturn 1",
    "compile": "return compile('1', 'x', 'eval')",
    "globals": "return globals()",
    "locals": "return locals()",
    "vars": "return vars(agent)",
    "dir": "return dir(agent)",
    "input": "return input()",
    "breakpoint": "breakpoint()\nreturn 1",
    "help": "help(agent)\nreturn 1",
    "exit": "exit(1)",
    "quit": "quit()",
    "id": "return id(args)",
    "hash": "return hash('x')",
    "memoryview": "return memoryview(b'x')",
    "delattr": "delattr(agent, 'x')\nreturn 1",
    "BaseException": "try:\n    pass\nexcept BaseException:\n    pass\nreturn 1",
    "SystemExit": "raise SystemExit(1)",
    "KeyboardInterrupt": "raise KeyboardInterrupt",
    "GeneratorExit": "raise GeneratorExit",
    "bare except": "try:\n    pass\nexcept:\n    pass\nreturn 1",
    "global": "def f():\n    global x\n    x = 1\nreturn f()",
    # attributes
    "class": "return ().__class__",
    "bases": "return str.__bases__",
    "mro": "return str.__mro__",
    "mro method": "return str.mro()",
    "subclasses": "return object.__subclasses__()",
    "class walk": "return [c for c in ().__class__.__base__.__subclasses__()]",
    "globals of a function": "def f():\n    pass\nreturn f.__globals__",
    "globals of an injected one": "return agent.__func__.__globals__",
    "self of a method": "return agent.__self__",
    "closure": "return log.__closure__",
    "code": "return (lambda: 1).__code__",
    "dict": "return agent.__dict__",
    "module": "return agent.__module__",
    "wrapped": "return agent.__wrapped__",
    "getattribute": "return object.__getattribute__(agent, '__self__')",
    "reduce": "return args.__reduce_ex__(2)",
    "init globals": "return agent.__init__.__globals__",
    "traceback": "try:\n    1/0\nexcept Exception as e:\n    return e.__traceback__",
    "traceback frame": "def f(t):\n    return t.tb_frame\nreturn f(1)",
    "context of an error": "try:\n    1/0\nexcept Exception as e:\n    return e.__context__",
    "frame of a generator": "g = (x for x in [1])\nreturn g.gi_frame",
    "frame of a coroutine": "async def f():\n    pass\nreturn f().cr_frame",
    "what a coroutine awaits": "async def f():\n    pass\nreturn f().cr_await",
    "frame of an async generator": "async def f():\n    yield 1\nreturn f().ag_frame",
    "frame globals": "def f(x):\n    return x.f_globals\nreturn f(1)",
    "frame back": "def f(x):\n    return x.f_back\nreturn f(1)",
    "store of a dunder": "agent.__class__ = 1\nreturn 1",
    "delete of a dunder": "del agent.__dict__\nreturn 1",
    "private of a facade": "return budget._calls",
    "private of an enum": "import enum\nreturn enum.Enum._convert_('X', 'os', lambda n: True)",
    "private of a result": "f = agent('x')\nreturn f._observers",
    # patterns, classes, methods
    "match class pattern": "match agent:\n    case object(__self__=x):\n        return x",
    "match private": "match budget:\n    case object(_calls=x):\n        return x",
    "match args": "class P:\n    __match_args__ = ('__globals__',)\nreturn 1",
    "metaclass": "class M(type):\n    pass\nreturn 1",
    "metaclass of enums": "from enum import EnumMeta\nclass M(EnumMeta):\n    pass\nreturn 1",
    "instancecheck": "class A:\n    def __instancecheck__(self, x):\n        return True\nreturn 1",
    "subclasshook": "class A:\n    def __subclasshook__(self, x):\n        return True\nreturn 1",
    "init_subclass": "class A:\n    def __init_subclass__(cls):\n        pass\nreturn 1",
    "reduce method": "class A:\n    def __reduce__(self):\n        return (log, ())\nreturn 1",
    "setstate": "class A:\n    def __setstate__(self, s):\n        pass\nreturn 1",
    "del method": "class A:\n    def __del__(self):\n        log('x')\nreturn 1",
    "prepare": "class A:\n    def __prepare__(n, b):\n        return {}\nreturn 1",
    "getattribute method": "class A:\n"
    "    def __getattribute__(self, n):\n        return 1\nreturn 1",
    "mro_entries": "class A:\n    def __mro_entries__(self, b):\n        return ()\nreturn 1",
    "setattr method": "class A:\n    def __setattr__(self, n, v):\n        pass\nreturn 1",
    "module of a class": "class A:\n    __module__ = 'os'\nreturn 1",
    "build class": "return __build_class__(lambda: 1, 'x')",
    "annotations": "__annotations__ = {}\nreturn 1",
    "super with arguments": "from datetime import datetime\n"
    "class D(datetime):\n    pass\nreturn super(D, D).now()",
    "super in a variable": "s = super\nreturn s",
    # modules
    "attrgetter": "from operator import attrgetter\nreturn attrgetter('__self__')(agent)",
    "methodcaller": "import operator\nreturn operator.methodcaller('mro')(str)",
    "singledispatch": "from functools import singledispatch\nreturn 1",
    "make_dataclass": "import dataclasses\nreturn dataclasses.make_dataclass('X', ['a'])",
    "get_type_hints": "import typing\nreturn typing.get_type_hints(agent)",
    "Formatter": "import string\nreturn string.Formatter().format('{0}', 1)",
    "global_enum": "import enum\nreturn enum.global_enum",
    "a file as JSON": "import json\nreturn json.load(args)",
    "file_digest": "import hashlib\nreturn hashlib.file_digest(args, 'md5')",
    "redirect_stdout": "import contextlib\nreturn contextlib.redirect_stdout(args)",
    "a module within a module": "import asyncio\nreturn asyncio.subprocess",
    "a task of asyncio": "import asyncio\nreturn await asyncio.create_task(agent('x'))",
    "a loop of asyncio": "from asyncio import get_event_loop\nreturn get_event_loop()",
    # clocks and chance
    "datetime.now": "from datetime import datetime\nreturn str(datetime.now())",
    "datetime.datetime.now": "import datetime\nreturn str(datetime.datetime.now())",
    "utcnow": "from datetime import datetime\nreturn str(datetime.utcnow())",
    "today": "from datetime import date\nreturn str(date.today())",
    "random.random": "import random\nreturn random.random()",
    "random.shuffle": "import random\nrandom.shuffle(args)\nreturn args",
    "SystemRandom": "from random import SystemRandom\nreturn SystemRandom().random()",
    "seed of all": "import random\nrandom.seed(1)\nreturn 1",
    # what is ours
    "agent is set": "agent = log\nreturn 1",
    "a function agent": "def agent(x):\n    return 1\nreturn 1",
    "a class log": "class log:\n    pass\nreturn 1",
    "for phase": "for phase in [1]:\n    pass\nreturn 1",
    "import as agent": "import json as agent\nreturn 1",
    "a format of a constant": "return '{0.__class__}'.format(agent)",
    "a format map of a constant": "return '{a.__class__}'.format_map({'a': 1})",
}

_OPEN = "['open']('{outside}').read()"
_WALK = "('{0._' + '_class__}')"
CONTAINED: dict[str, str] = {
    "globals of a facade": "return agent.__func__.__globals__['__builtins__']" + _OPEN,
    "write a file": "agent.__func__.__globals__['__builtins__']['open']('{target}', 'w')\nreturn 1",
    "caught": "try:\n    return agent.__func__.__globals__['__builtins__']"
    + _OPEN
    + "\nexcept Exception:\n    return 'caught'",
    "subclasses": "return [c for c in ().__class__.__base__.__subclasses__()"
    " if c.__name__ == 'FileLoader'][0]('x', '{outside}').get_data('{outside}').decode()",
    "os by its functions": "import json\n"
    "return json.JSONDecoder.__init__.__globals__['scanner'].c_make_scanner"
    " and agent.__func__.__globals__['__builtins__']['__import__']('os').popen('id').read()",
    "os.system": "agent.__func__.__globals__['__builtins__']['__import__']('os')"
    ".system('touch {target}')\nreturn 1",
    "os.open": "o = agent.__func__.__globals__['__builtins__']['__import__']('os')\n"
    "return o.read(o.open('{outside}', 0), 99).decode()",
    "os.listdir": "o = agent.__func__.__globals__['__builtins__']['__import__']('os')\n"
    "return o.listdir('/')",
    "os.fork": "o = agent.__func__.__globals__['__builtins__']['__import__']('os')\n"
    "return o.fork()",
    "os.mkdir": "o = agent.__func__.__globals__['__builtins__']['__import__']('os')\n"
    "o.mkdir('{target}')\nreturn 1",
    "os.kill": "o = agent.__func__.__globals__['__builtins__']['__import__']('os')\n"
    "o.kill(o.getppid(), 15)\nreturn 1",
    "subprocess": "s = agent.__func__.__globals__['__builtins__']['__import__']('subprocess')\n"
    "return s.check_output(['cat', '{outside}']).decode()",
    "socket": "s = agent.__func__.__globals__['__builtins__']['__import__']('socket')\n"
    "s.create_connection(('127.0.0.1', 1))\nreturn 1",
    "ctypes": "s = agent.__func__.__globals__['__builtins__']['__import__']('ctypes')\n"
    "return s.CDLL(None).getpid()",
    "mmap": "s = agent.__func__.__globals__['__builtins__']['__import__']('mmap')\n"
    "s.mmap(-1, 10)\nreturn 1",
    "pathlib": "s = agent.__func__.__globals__['__builtins__']['__import__']('pathlib')\n"
    "return s.Path('{outside}').read_text()",
    "a library's name that leads out": "o = agent.__func__.__globals__['__builtins__']"
    "['__import__']('os')\nreturn o.__builtins__['open'](o.path.dirname(o.__file__)"
    " + '/../../../../../../../../../../{outside}').read()",
    "enum": "import enum\nreturn enum.Enum._convert_('X', 'os', lambda n: n == 'popen')"
    ".popen.value('id').read()",
    "resource": "s = agent.__func__.__globals__['__builtins__']['__import__']('resource')\n"
    "s.setrlimit(s.RLIMIT_CORE, (0, 0))\nreturn 1",
    "signal": "s = agent.__func__.__globals__['__builtins__']['__import__']('signal')\n"
    "s.pthread_kill(1, 9)\nreturn 1",
    "match class pattern": "match agent:\n    case object(__func__=x):\n        pass\n"
    "return x.__globals__['__builtins__']" + _OPEN,
    "update_wrapper": "import functools\nclass C:\n    def __setattr__(self, n, v):\n"
    "        got.append(v)\ngot = []\n"
    "functools.update_wrapper(C(), agent, assigned=('__func__',), updated=())\n"
    "return got[0].__globals__['__builtins__']" + _OPEN,
    "getattr": "return getattr(agent, '__fu' + 'nc__').__globals__['__builtins__']" + _OPEN,
    "getattr of a private": "return str(getattr(agent('x'), '_obser' + 'vers'))",
    "reduce of getattr": "import functools\n"
    "return functools.reduce(getattr, ['__func__', '__globals__'], agent)['x']",
    "setattr": "setattr(log, '__de' + 'faults__', ())\nreturn 1",
    "format": f"return {_WALK}.format(agent) + 'class'",
    "format by name": f"f = getattr({_WALK}, 'for' + 'mat')\nreturn f(agent)",
    "format of str": f"return str.format({_WALK}, agent)",
    "format_map": "return ('{a._' + '_class__}').format_map({'a': agent})",
    "format of a spec": "return '{:{0._' + '_class__}}'.format(agent) if 0"
    " else ('{0:{0._' + '_class__}}').format(agent)",
    "map of format": f"return list(map({_WALK}.format, [agent]))",
    "type of three": "return type('X', (), {'__reduce__': 1}).__name__",
    "type of a type": "return type(type(agent)).mro",
    "open by name": "return (open)('{outside}').read()",
    "import by name": "return __import__('os').getcwd()",
    "import by statement": "import os\nreturn os.getcwd()",
    "the clock by min": "from datetime import datetime\nreturn str(datetime.min.now())",
    "the clock by date": "from datetime import datetime\n"
    "return str(datetime(2020, 1, 1).date().today())",
    "the clock by a variable": "from datetime import datetime\nd = datetime\nreturn str(d.now())",
    "the clock by a subclass": "from datetime import datetime\nclass D(datetime):\n    pass\n"
    "return str(D.now())",
    "the clock by super": "from datetime import datetime\nclass D(datetime):\n    pass\n"
    "return str(super(D, D).now())",
    "the clock by a class": "from datetime import datetime\n"
    "return str(datetime.min.__class__.now())",
    "the time zone": "from datetime import datetime\nreturn datetime(2020, 1, 1).timestamp()",
    "the time zone by astimezone": "from datetime import datetime\n"
    "return str(datetime(2020, 1, 1).astimezone())",
    "fromtimestamp": "from datetime import datetime\nreturn str(datetime.fromtimestamp(0))",
    "date of a timestamp": "from datetime import date\nreturn str(date.fromtimestamp(0))",
    "random without a seed": "import random\nreturn random.Random().random()",
    "random of None": "import random\nreturn random.Random(None).random()",
    "seed again": "import random\nr = random.Random(1)\nr.seed()\nreturn r.random()",
    "an address in a prompt": "return await agent(str(lambda: 1))",
    "an address of a plain object": "return await agent(f'look at {log}')",
    "an address of a library's function": "import json\n"
    "return await agent(f'look at {json.dumps}')",
    "half a letter": "return await agent('\\ud800')",
    "a huge prompt": "return await agent('x' * 5_000_000)",
    "a huge result": "return 'x' * 20_000_000",
    "a deep result": "x = []\nfor _ in range(300):\n    x = [x]\nreturn x",
    "a deeper result": "x = []\nfor _ in range(100_000):\n    x = [x]\nreturn x",
    "a result that has itself": "x = []\nx.append(x)\nreturn x",
    "a long number": "return 10 ** 5000",
    "a set": "return {1, 2}",
    "an object": "return object()",
    "bytes": "return b'x'",
    "a function": "return lambda: 1",
    "recursion": "def f():\n    return f()\nreturn f()",
    "memory": "x = []\nwhile True:\n    x.append(bytearray(50_000_000))",
    "memory at once": "return len('x' * 2_000_000_000)",
    "phases without end": "while True:\n    phase('x')",
    "reads without end": "while True:\n    budget.spent()",
    "items without end": "import itertools\nreturn await parallel(itertools.count())",
    "what never comes": "class A:\n    def __await__(self):\n        yield 1\nreturn await A()",
    "a message of its own": "agent.__self__._calls.tell({'t': 'nonsense'})\nreturn 1",
    "a call of its own": "agent.__self__._calls.tell({'t': 'call', 'kind': 'agent'})\nreturn 1",
    "an empty message": "agent.__self__._calls.tell({})\nreturn 1",
    "exit": "agent.__func__.__globals__['__builtins__']['exit'](3)",
    "exit at once": "o = agent.__func__.__globals__['__builtins__']['__import__']('os')\n"
    "o._exit(0)",
    "an error that cannot be told": "class E(Exception):\n"
    "    def __str__(self):\n        return 1\n"
    "raise E()",
    "an error of a huge text": "raise ValueError('x' * 10_000_000)",
    "a stop": "raise StopIteration(1)",
    "a lone generator": "return await (x for x in [1])",
    "globals of a decorated": "import functools\n@functools.lru_cache\ndef f():\n    pass\n"
    "return f.__wrapped__.__globals__['__builtins__']" + _OPEN,
    "the pipe": "o = agent.__func__.__globals__['__builtins__']['__import__']('os')\n"
    "return o.read(0, 10).decode() + str(1 / 0)",
    "the other pipe": "o = agent.__func__.__globals__['__builtins__']['__import__']('os')\n"
    "o.write(1, b'nonsense\\n')\nreturn 1 / 0",
}

UNSTEADY: dict[str, str] = {
    "a set of texts": "return list({'a', 'b', 'c', 'd', 'e', 'f', 'g'})",
    "a set of objects": "class A:\n    def __init__(self, n):\n        self.n = n\n"
    "return [a.n for a in {A(n) for n in range(50)}]",
    "an object as text": "class A:\n    pass\nreturn [str(A()), repr(A())]",
    "a key of objects": "class A:\n    pass\nreturn str({A(): 1, A(): 2})",
    "a seeded random": "import random\n"
    "r = random.Random('x')\nreturn [r.random(), r.choice('abc')]",
    "a set of tuples": "return list({('a', 1), ('b', 2), ('c', 3)})",
    "a frozen dataclass": "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n"
    "    n: str\nreturn [a.n for a in {A(str(n)) for n in range(20)}]",
    "an enum": "from enum import Enum\nclass C(Enum):\n    A = 1\n    B = 2\n"
    "return [c.name for c in {C.A, C.B}]",
    "the time zone of a format": "from datetime import datetime\n"
    "return datetime(2020, 1, 2, 3).strftime('%Y %H %Z')",
}
