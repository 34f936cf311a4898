"""Translate expressions and functions: what stands in statements."""

from dataclasses import replace

from siding.workflows.javascript.functions import function_value
from siding.workflows.javascript.globals import (
    GLOBALS,
    global_call,
    hook,
    new,
    plain_call,
    waits_for_all,
)
from siding.workflows.javascript.methods import METHODS, collection_method
from siding.workflows.javascript.nodes import (
    Array,
    Await,
    Binary,
    Call,
    Conditional,
    Expression,
    Function,
    Index,
    Member,
    Name,
    New,
    Number,
    Object,
    Property,
    Spread,
    Template,
    Text,
    Unary,
    Unsupported,
    Word,
)
from siding.workflows.javascript.operators import (
    as_text,
    binary_value,
    conditional,
    formatted,
    truth,
    unary,
)
from siding.workflows.javascript.targets import member
from siding.workflows.javascript.translator import Frame, Translator, refuse
from siding.workflows.javascript.values import (
    ANY,
    ATOM,
    AWAIT,
    BOOL,
    INT,
    NULL,
    NUM,
    PLAIN,
    STR,
    TERNARY,
    VOID,
    Code,
    Group,
    Kind,
    Value,
    atom,
    both,
    called,
    inner,
    list_of,
    object_with,
    quoted,
)

_WORDS = {
    "true": ("True", BOOL),
    "false": ("False", BOOL),
    "null": ("None", NULL),
    "undefined": ("None", NULL),
}
_OF_ITSELF = frozenset(["toString", "valueOf", "toJSON", "__proto__"])
_HELD = "%held"  # the name of what a chain with `?.` goes on from


class ExpressionTranslator(Translator):
    """Translates expressions."""

    def condition(self, node: Expression) -> Value:
        return truth(self, node)

    def function(
        self, node: Function, name: str, kinds: tuple[Kind, ...] = (), *, immediate: bool = False
    ) -> Value:
        return function_value(self, node, name, kinds, immediate=immediate)

    def value(self, node: Expression) -> Value:
        match node:
            case Name():
                return self._name(node)
            case Text():
                return formatted(self, [node.value], [])
            case Number():
                return _number(node.value)
            case Word():
                python, kind = _WORDS[node.word]
                return atom(python, kind, is_pure=True)
            case Template():
                return formatted(self, list(node.texts), [self.value(one) for one in node.values])
            case Array():
                return self._array(node)
            case Object():
                return self._object(node)
            case Function():
                return self.function(node, "step")
            case Member() | Index() | Call():
                return self._chain(node)
            case New():
                return new(self, node)
            case Unary():
                return unary(self, node)
            case Binary():
                return binary_value(self, node)
            case Conditional():
                return conditional(self, node)
            case Await():
                return self._await(node)
            case Unsupported():
                raise refuse(node.why)
            case _:
                raise refuse("a change in the middle of an expression")

    def _name(self, node: Name) -> Value:
        binding = self.scopes.find(node.name)
        if binding is not None:
            return atom(binding.python, binding.kind, is_pure=True)
        match node.name:
            case "args":
                return atom("args", ANY, is_pure=True)
            case "Infinity":
                return atom(f"{self.module('math')}.inf", NUM, is_pure=True)
            case "NaN":
                return atom(f"{self.module('math')}.nan", ANY, is_pure=True)
            case "Date" | "Math" | "process" | "require" | "setTimeout" | "fetch":
                raise refuse(f"`{node.name}` as a value, or what a workflow does not have")
            case _:
                raise refuse(f"the name {node.name!r} is not known")

    def _array(self, node: Array) -> Value:
        items: list[Code] = []
        kinds: list[Kind] = []
        is_pure = True
        for one in node.items:
            value = self.value(one.value if isinstance(one, Spread) else one)
            is_pure = is_pure and value.is_pure
            if isinstance(one, Spread):
                if value.kind.name == "map":
                    items.append(("*map(list, ", *value.at(ATOM), ".items())"))
                else:
                    items.append(("*", *value.at(TERNARY + 1)))
                kinds.append(inner(value.kind) if value.kind.name == "list" else ANY)
            else:
                items.append(value.code)
                kinds.append(value.kind)
        kind = kinds[0] if kinds else ANY
        for other in kinds[1:]:
            kind = both(kind, other)
        group = Group(opening="[", items=tuple(items), closing="]")
        return Value(code=(group,), kind=list_of(kind), is_pure=is_pure)

    def _object(self, node: Object) -> Value:
        items: list[Code] = []
        keys: dict[str, Kind] = {}
        is_pure = True
        for one in node.properties:
            value = self._property(one)
            is_pure = is_pure and value.is_pure
            if isinstance(one, Spread):
                items.append(("**", *value.at(TERNARY + 1)))
                continue
            if isinstance(one.key, Text):
                if one.key.value in _OF_ITSELF:
                    raise refuse(f"an object with {one.key.value!r} of its own")
                changes = one.key.value in self.assigned.properties
                keys[one.key.value] = ANY if changes else value.kind
                key: Code = (quoted(one.key.value),)
            else:
                key = as_text(self, self.value(one.key)).code
            items.append((*key, ": ", *value.code))
        if any(isinstance(one, Spread) for one in node.properties):
            keys = dict.fromkeys(keys, ANY)
        group = Group(opening="{", items=tuple(items), closing="}")
        return Value(code=(group,), kind=object_with(keys), is_pure=is_pure)

    def _property(self, one: Property | Spread) -> Value:
        if isinstance(one.value, Function) and isinstance(one, Property):
            name = one.key.value if isinstance(one.key, Text) else "step"
            return self.function(one.value, name if name.isidentifier() else "step")
        return self.value(one.value)

    def _await(self, node: Await) -> Value:
        if waits_for_all(node.value):
            with self.contained():
                value = self.value(node.value)
        else:
            value = self.value(node.value)
        if value.kind.name in PLAIN:
            return value
        self.scopes.frame.awaits = True
        kind = inner(value.kind) if value.kind.name == "promise" else ANY
        return Value(code=("await ", *value.at(ATOM)), kind=kind, level=AWAIT)

    def _chain(self, node: Member | Index | Call) -> Value:
        """Translate properties and calls one behind the other; `?.` ends all of them early."""
        base = _optional_base(node)
        if base is None:
            return self._link(node)
        held = self.value(base)
        if held.is_pure:
            rest = self.value(_without_optional(node, base, base))
            code = (
                "None if ",
                *held.at(TERNARY + 1),
                " is None else ",
                *rest.at(TERNARY),
            )
            return Value(code=code, level=TERNARY, is_pure=rest.is_pure)
        around = self.scopes.frame
        frame = self.scopes.frame = Frame(around, immediate=True)
        with self.block():
            name = self.scopes.free("it")
            self.scopes.bind(_HELD, name, held.kind)
            rest = self.value(_without_optional(node, base, Name(name=_HELD, at=node.at)))
        self.scopes.frame = around
        if frame.awaits or frame.hoisted:
            raise refuse("`await` or a function behind `?.`")
        return self.helper("maybe", held.code, (f"lambda {name}: ", *rest.at(TERNARY)))

    def _link(self, node: Member | Index | Call) -> Value:
        match node:
            case Member():
                return self._member(node)
            case Index():
                value, key = self.value(node.value), self.value(node.key)
                if value.kind.name in {"set", "map", "promise", "function"}:
                    raise refuse(f"a {value.kind.name} with `[…]`")
                found = self.helper("item", value.code, key.code)
                return found._replace(is_pure=value.is_pure and key.is_pure)
            case Call():
                return self._call(node)

    def _member(self, node: Member) -> Value:
        if isinstance(node.value, Name) and self._is_global(node.value.name):
            if node.value.name == "budget" and node.name == "total":
                return atom("budget.total", ANY, is_pure=True)
            raise refuse(f"`{node.value.name}.{node.name}` as a value")
        value = self.value(node.value)
        match node.name, value.kind.name:
            case "length", "list" | "str":
                return called("len", value.code, kind=INT, is_pure=value.is_pure)
            case "length", _:
                found = self.helper("length", value.code)
                return found._replace(kind=INT, is_pure=value.is_pure)
            case "size", "set" | "map":
                return called("len", value.code, kind=INT, is_pure=value.is_pure)
            case "message", "error":
                return called("str", value.code, kind=STR, is_pure=value.is_pure)
            case _, "any" | "object":
                return member(value, node.name)
            case _, kind:
                raise refuse(f"the property {node.name!r} of a {kind}")

    def _is_global(self, name: str) -> bool:
        return name in GLOBALS and self.scopes.find_quietly(name) is None

    def _call(self, node: Call) -> Value:
        function = node.function
        if isinstance(function, Name) and self.scopes.find_quietly(function.name) is None:
            found = hook(self, function.name, node) or plain_call(
                self, function.name, node.arguments
            )
            if found is None:
                raise refuse(f"`{function.name}(…)` is not known")
            return found
        if isinstance(function, Member):
            return self._method(function, node)
        return self._own(self.value(function), node)

    def _method(self, function: Member, node: Call) -> Value:
        if isinstance(function.value, Name) and self._is_global(function.value.name):
            return global_call(self, function.value.name, function.name, node)
        value = self.value(function.value)
        found = collection_method(self, value, function.name, node.arguments)
        if found is not None:
            return found
        own = value.kind.keys.get(function.name)
        if own is not None and own.name == "function":
            return self._own(member(value, function.name), node)
        if value.kind.name == "object" or function.name not in METHODS:
            raise refuse(f"the method {function.name!r}")
        return METHODS[function.name](self, value, node.arguments)

    def _own(self, function: Value, node: Call) -> Value:
        """Translate the call of a function of the script, with as many arguments as it takes."""
        given: list[Code] = []
        for number, argument in enumerate(node.arguments):
            if isinstance(argument, Spread):
                given.append(("*", *self.value(argument.value).at(TERNARY + 1)))
            elif isinstance(argument, Function):
                given.append(self.function(argument, "step").code)
            else:
                value = self.value(argument)
                if function.kind.takes < 0 or number < function.kind.takes or not value.is_pure:
                    given.append(value.code)
        if not any(isinstance(argument, Spread) for argument in node.arguments):
            given += [("None",)] * (function.kind.needs - len(given))
        group = Group(opening="(", items=tuple(given), closing=")")
        kind = inner(function.kind) if function.kind.name == "function" else ANY
        if VOID in (kind, inner(kind)) and node is not self.discarded:
            raise refuse("what a function gives back that changes something")
        return Value(code=(*function.at(ATOM), group), kind=kind)


def _number(value: float) -> Value:
    if value.is_integer() and abs(value) < 2**53:
        return atom(str(int(value)), INT, is_pure=True)
    return atom(repr(value) if value != float("inf") else "1e999", NUM, is_pure=True)


def _optional_base(node: Expression) -> Expression | None:
    """Return what the first `?.` of a chain goes on from."""
    found = None
    while isinstance(node, Member | Index | Call):
        below = node.function if isinstance(node, Call) else node.value
        if node.is_optional:
            found = below
        node = below
    return found


def _without_optional(node: Expression, base: Expression, new: Expression) -> Expression:
    """Return a chain whose first `?.` is a plain one, with `new` in the place of its base."""
    if isinstance(node, Call):
        if node.function is base:
            return replace(node, function=new, is_optional=False)
        return replace(node, function=_without_optional(node.function, base, new))
    assert isinstance(node, Member | Index)
    if node.value is base:
        return replace(node, value=new, is_optional=False)
    return replace(node, value=_without_optional(node.value, base, new))
