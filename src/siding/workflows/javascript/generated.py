"""Functions that a translated script gets where Python would do something else than JavaScript.

Each stands in the script itself, so that a person can read, change and remove it.
"""

from collections.abc import Iterable, Mapping

from siding.ground.namedtuples import NamedTuple


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
        return digits(value)
    if isinstance(value, (list, tuple)):
        return joined(value, ",")
    if isinstance(value, Exception):
        return f"Error: {value}"
    return "[object Object]" if isinstance(value, dict) else str(value)
''',
        needs=("digits", "joined"),
    ),
    "digits": Helper(
        '''\
def digits(value):
    """Return a number as JavaScript writes it."""
    if value != value or value in (math.inf, -math.inf):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    if value and not 1e-6 <= abs(value) < 1e21:
        shown, power = repr(value).split("e")
        return f"{shown}e{int(power):+d}"
    return format(decimal.Decimal(repr(value or 0.0)), "f").removesuffix(".0")
''',
        modules=("decimal", "math"),
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
    if (one is None or other is None) and not isinstance(other if one is None else one, str):
        raise TypeError("None is added to what is no text: null counts as 0, undefined does not")
    return text(one) + text(other)
''',
        needs=("text",),
    ),
    "times": Helper(
        '''\
def times(one, other):
    """Multiply numbers. A text would be repeated here, and read as a number in JavaScript."""
    if isinstance(one, (int, float)) and isinstance(other, (int, float)):
        return one * other
    raise TypeError(f"{one!r} * {other!r}: these are not both numbers")
'''
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
    if key == "length":
        return len(value)
    if isinstance(key, str):
        key = int(key) if key.isdecimal() and str(int(key)) == key else None
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
    """Return `Object.keys(value)`: numbers come first, in their order."""
    if not isinstance(value, dict):
        return [str(index) for index in range(len(value))]
    numbers = {key for key in value if key.isdecimal() and str(int(key)) == key}
    return [*sorted(numbers, key=int), *(key for key in value if key not in numbers)]
'''
    ),
    "entries": Helper(
        '''\
def entries(value):
    """Return `Object.entries(value)`."""
    return [[key, item(value, key)] for key in keys(value)]
''',
        needs=("item", "keys"),
    ),
    "from_entries": Helper(
        '''\
def from_entries(pairs):
    """Return `Object.fromEntries(pairs)`."""
    return {key if isinstance(key, str) else text(key): value for key, value in pairs}
''',
        needs=("text",),
    ),
    "has": Helper(
        '''\
def has(value, key):
    """Return `key in value`."""
    if not isinstance(value, (dict, list)):
        raise TypeError(f"{value!r} has no names")
    return (key if isinstance(key, str) else text(key)) in keys(value)
''',
        needs=("keys", "text"),
    ),
    "whole": Helper(
        '''\
def whole(value):
    """Return `Number.isInteger(value)`."""
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int) and not isinstance(value, bool)
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
    return any(same(value, wanted) or value != value and wanted != wanted for value in values)
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
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text with a number")
    words = value.strip()
    if re.fullmatch("0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+", words):
        return int(words, 0)
    size = r"([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]+)?|Infinity"
    if not re.fullmatch(f"([+-]?({size}))?", words):
        return math.nan
    found = float(words or 0)
    return int(found) if found.is_integer() else found
''',
        modules=("math", "re"),
    ),
    "to_json": Helper(
        '''\
def to_json(value, indent=0, before=""):
    """Return `JSON.stringify(value, null, indent)`."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return text(value) if math.isfinite(value) else "null"
    if not isinstance(value, (dict, list, tuple)):
        return json.dumps(value, ensure_ascii=False)
    within = before + " " * indent
    if isinstance(value, dict):
        colon = ": " if indent else ":"
        names = [json.dumps(key, ensure_ascii=False) + colon for key in keys(value)]
        parts = [to_json(value[key], indent, within) for key in keys(value)]
        parts = [name + part for name, part in zip(names, parts)]
    else:
        parts = [to_json(one, indent, within) for one in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    if not indent or not parts:
        return opening + ",".join(parts) + closing
    return f"{opening}\\n{within}" + f",\\n{within}".join(parts) + f"\\n{before}{closing}"
''',
        needs=("keys", "text"),
        modules=("json", "math"),
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
