"""Functions that a translated script gets where Python would do something else than JavaScript.

Each stands in the script itself, so that a person can read, change and remove it.
"""

from collections.abc import Iterable, Mapping

from siding.namedtuples import NamedTuple


class Helper(NamedTuple):
    code: str
    needs: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


HELPERS: Mapping[str, Helper] = {
    "truthy": Helper(
        '''\
def truthy(value):
    """Tell what counts as true in JavaScript: an empty list and an empty object do."""
    return isinstance(value, (list, dict)) or (bool(value) and value == value)
'''
    ),
    "text": Helper(
        '''\
def text(value):
    """Return a value as JavaScript writes it into a text."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        if value != value or value in (math.inf, -math.inf):
            return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
        return str(int(value)) if value.is_integer() and abs(value) < 1e21 else repr(value)
    if isinstance(value, (list, tuple)):
        return joined(value, ",")
    if isinstance(value, Exception):
        return f"Error: {value}"
    return "[object Object]" if isinstance(value, dict) else str(value)
''',
        needs=("joined",),
        modules=("math",),
    ),
    "joined": Helper(
        '''\
def joined(values, separator):
    """Return values as one text; null is empty in it."""
    return separator.join("" if value is None else text(value) for value in values)
''',
        needs=("text",),
    ),
    "plus": Helper(
        '''\
def plus(one, other):
    """Add numbers; anything else is put together as text."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one + other
    return text(one) + text(other)
''',
        needs=("text",),
    ),
    "same": Helper(
        '''\
def same(one, other):
    """Tell whether `one === other`: lists and objects are the same only if they are one."""
    if isinstance(one, (list, dict)) or isinstance(one, bool) is not isinstance(other, bool):
        return one is other
    return one == other
'''
    ),
    "length": Helper(
        '''\
def length(value):
    """Return `value.length`."""
    return value.get("length") if isinstance(value, dict) else len(value)
'''
    ),
    "item": Helper(
        '''\
def item(value, key):
    """Return `value[key]`: None if there is no such item."""
    if isinstance(value, dict):
        return value.get(key if isinstance(key, str) else text(key))
    if isinstance(key, float) and key.is_integer():
        key = int(key)
    return value[key] if isinstance(key, int) and 0 <= key < len(value) else None
''',
        needs=("text",),
    ),
    "put": Helper(
        '''\
def put(value, key, new):
    """Do `value[key] = new`; a list grows by one item at most."""
    if isinstance(value, dict):
        value[key if isinstance(key, str) else text(key)] = new
    elif key == len(value):
        value.append(new)
    elif 0 <= key < len(value):
        value[key] = new
    else:
        raise IndexError(f"{key} is outside of the list")
''',
        needs=("text",),
    ),
    "keys": Helper(
        '''\
def keys(value):
    """Return `Object.keys(value)`."""
    return list(value) if isinstance(value, dict) else [str(index) for index in range(len(value))]
'''
    ),
    "flat": Helper(
        '''\
def flat(values):
    """Return `values.flat()`: lists in the list are opened once."""
    return [one for value in values for one in (value if isinstance(value, list) else [value])]
'''
    ),
    "concat": Helper(
        '''\
def concat(first, *others):
    """Return `first.concat(…)`."""
    if isinstance(first, str):
        return first + "".join(text(other) for other in others)
    return first + flat(list(others))
''',
        needs=("flat", "text"),
    ),
    "index_of": Helper(
        '''\
def index_of(values, wanted):
    """Return `values.indexOf(wanted)`."""
    if isinstance(values, str):
        return values.find(wanted)
    return next((index for index, value in enumerate(values) if same(value, wanted)), -1)
''',
        needs=("same",),
    ),
    "includes": Helper(
        '''\
def includes(values, wanted):
    """Return `values.includes(wanted)`."""
    if isinstance(values, str):
        return wanted in values
    return any(same(value, wanted) for value in values)
''',
        needs=("same",),
    ),
    "maybe": Helper(
        '''\
def maybe(value, then):
    """Return what `then` makes of a value, or None without one: `value?.…`."""
    return None if value is None else then(value)
'''
    ),
    "given": Helper(
        '''\
def given(value, otherwise):
    """Return `value ?? otherwise`."""
    return otherwise if value is None else value
'''
    ),
    "either": Helper(
        '''\
def either(value, otherwise):
    """Return `value || otherwise`."""
    return value if truthy(value) else otherwise
''',
        needs=("truthy",),
    ),
    "options": Helper(
        '''\
def options(given):
    """Return the options of an agent by the names that they have here."""
    names = {"agentType": "agent_type", "maxTokens": "max_tokens", "allowedTools": "allowed_tools"}
    return {names.get(name, name): value for name, value in (given or {}).items()}
'''
    ),
    "remainder": Helper(
        '''\
def remainder(one, other):
    """Return `one % other`, whose sign is that of `one`."""
    found = math.fmod(one, other)
    return int(found) if found.is_integer() else found
''',
        modules=("math",),
    ),
    "number": Helper(
        '''\
def number(value):
    """Return `Number(value)`."""
    if value is None or isinstance(value, (bool, int, float)):
        return value if isinstance(value, float) else int(value or 0)
    words = str(value).strip()
    try:
        found = float(words or 0)
    except ValueError:
        return math.nan
    return int(found) if found.is_integer() else found
''',
        modules=("math",),
    ),
    "plain": Helper(
        '''\
def plain(value):
    """Return a value as JSON has it in JavaScript: a whole number has no point."""
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
'''
    ),
    "to_json": Helper(
        '''\
def to_json(value, indent=None):
    """Return `JSON.stringify(value, null, indent)`."""
    separators = (",", ":") if indent is None else (",", ": ")
    return json.dumps(plain(value), ensure_ascii=False, indent=indent, separators=separators)
''',
        needs=("plain",),
        modules=("json",),
    ),
    "sort": Helper(
        '''\
def sort(values, compare=None):
    """Sort a list in place, and return it: `values.sort(compare)`."""
    values.sort(key=text if compare is None else functools.cmp_to_key(compare))
    return values
''',
        needs=("text",),
        modules=("functools",),
    ),
}


def with_needed(names: Iterable[str]) -> list[str]:
    """Return helpers with those that they need, in the order of the table."""
    found: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left.extend(HELPERS[name].needs)
    return [name for name in HELPERS if name in found]
