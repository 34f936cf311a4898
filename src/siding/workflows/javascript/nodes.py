"""The parts of a JavaScript workflow, as far as they are translated.

`at` is the offset where a node begins. What stands in a source and is not translated is Unknown.
They are dataclasses: nodes hold nodes, and mypy compares named tuples by all that they hold.
"""

from dataclasses import dataclass
from typing import Union

from siding.workflows.javascript.tokens import Comment


@dataclass(frozen=True, slots=True)
class Name:
    name: str
    at: int


@dataclass(frozen=True, slots=True)
class Text:
    value: str
    at: int


@dataclass(frozen=True, slots=True)
class Number:
    value: float
    at: int


@dataclass(frozen=True, slots=True)
class Word:
    """true, false, null or undefined."""

    word: str
    at: int


@dataclass(frozen=True, slots=True)
class Template:
    texts: tuple[str, ...]
    values: tuple["Expression", ...]
    at: int


@dataclass(frozen=True, slots=True)
class Array:
    items: tuple["Expression", ...]
    at: int


@dataclass(frozen=True, slots=True)
class Property:
    key: "Expression"  # a Text, or what is computed
    value: "Expression"


@dataclass(frozen=True, slots=True)
class Object:
    properties: tuple[Union[Property, "Spread"], ...]
    at: int


@dataclass(frozen=True, slots=True)
class Spread:
    value: "Expression"
    at: int


@dataclass(frozen=True, slots=True)
class Parameter:
    """A target that a value is bound to, and what it is without one."""

    target: "Target"
    default: Union["Expression", None] = None
    is_rest: bool = False


@dataclass(frozen=True, slots=True)
class ObjectPattern:
    properties: tuple[tuple[str, Parameter], ...]
    rest: str | None
    at: int


@dataclass(frozen=True, slots=True)
class ArrayPattern:
    items: tuple[Parameter | None, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Function:
    """`value` is the expression of an arrow function without a block."""

    parameters: tuple[Parameter, ...]
    body: tuple["Statement", ...]
    value: Union["Expression", None]
    is_async: bool
    at: int


@dataclass(frozen=True, slots=True)
class Call:
    function: "Expression"
    arguments: tuple["Expression", ...]
    is_optional: bool
    at: int


@dataclass(frozen=True, slots=True)
class New:
    function: "Expression"
    arguments: tuple["Expression", ...]
    at: int


@dataclass(frozen=True, slots=True)
class Member:
    value: "Expression"
    name: str
    is_optional: bool
    at: int


@dataclass(frozen=True, slots=True)
class Index:
    value: "Expression"
    key: "Expression"
    is_optional: bool
    at: int


@dataclass(frozen=True, slots=True)
class Unary:
    sign: str
    value: "Expression"
    at: int


@dataclass(frozen=True, slots=True)
class Update:
    sign: str
    target: "Expression"
    at: int


@dataclass(frozen=True, slots=True)
class Binary:
    left: "Expression"
    sign: str
    right: "Expression"
    at: int


@dataclass(frozen=True, slots=True)
class Conditional:
    test: "Expression"
    then: "Expression"
    otherwise: "Expression"
    at: int


@dataclass(frozen=True, slots=True)
class Assign:
    target: "Expression"
    sign: str
    value: "Expression"
    at: int


@dataclass(frozen=True, slots=True)
class Await:
    value: "Expression"
    at: int


@dataclass(frozen=True, slots=True)
class Unsupported:
    """An expression that is not translated."""

    why: str
    at: int


Expression = (
    Name
    | Text
    | Number
    | Word
    | Template
    | Array
    | Object
    | Spread
    | Function
    | Call
    | New
    | Member
    | Index
    | Unary
    | Update
    | Binary
    | Conditional
    | Assign
    | Await
    | Unsupported
)
Target = Name | ObjectPattern | ArrayPattern


@dataclass(frozen=True, slots=True)
class Declare:
    is_const: bool
    pairs: tuple[tuple[Target, Expression | None], ...]
    is_var: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """An expression as a statement."""

    value: Expression


@dataclass(frozen=True, slots=True)
class If:
    test: Expression
    then: tuple["Statement", ...]
    otherwise: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class ForOf:
    target: Target
    items: Expression
    body: tuple["Statement", ...]
    over_keys: bool


@dataclass(frozen=True, slots=True)
class For:
    first: Union["Statement", None]
    test: Expression | None
    step: Expression | None
    body: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class While:
    test: Expression
    body: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class Try:
    body: tuple["Statement", ...]
    caught: Target | None
    handler: tuple["Statement", ...] | None
    final: tuple["Statement", ...] | None


@dataclass(frozen=True, slots=True)
class Throw:
    value: Expression


@dataclass(frozen=True, slots=True)
class Return:
    value: Expression | None


@dataclass(frozen=True, slots=True)
class Jump:
    """`break` or `continue`."""

    word: str


@dataclass(frozen=True, slots=True)
class Block:
    body: tuple["Statement", ...]


@dataclass(frozen=True, slots=True)
class Define:
    name: str
    function: Function


@dataclass(frozen=True, slots=True)
class Meta:
    value: Expression


@dataclass(frozen=True, slots=True)
class Unknown:
    """A statement that could not be read."""

    why: str


What = (
    Declare
    | Run
    | If
    | ForOf
    | For
    | While
    | Try
    | Throw
    | Return
    | Jump
    | Block
    | Define
    | Meta
    | Unknown
)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement, the text it has in the source, and the comments that belong to it."""

    what: What
    start: int
    end: int
    comments: tuple[Comment, ...] = ()
