"""The parts of a JavaScript workflow, as far as they are translated.

`at` is the offset where a node begins. What stands in a source and is not translated is Unknown.
"""

from typing import Union

from siding.namedtuples import NamedTuple
from siding.workflows.javascript.tokens import Comment


class Name(NamedTuple):
    name: str
    at: int


class Text(NamedTuple):
    value: str
    at: int


class Number(NamedTuple):
    value: float
    at: int


class Word(NamedTuple):
    """true, false, null or undefined."""

    word: str
    at: int


class Template(NamedTuple):
    texts: tuple[str, ...]
    values: tuple["Expression", ...]
    at: int


class Array(NamedTuple):
    items: tuple["Expression", ...]
    at: int


class Property(NamedTuple):
    key: "Expression"  # a Text, or what is computed
    value: "Expression"


class Object(NamedTuple):
    properties: tuple[Union[Property, "Spread"], ...]
    at: int


class Spread(NamedTuple):
    value: "Expression"
    at: int


class Parameter(NamedTuple):
    """A target that a value is bound to, and what it is without one."""

    target: "Target"
    default: Union["Expression", None] = None
    is_rest: bool = False


class ObjectPattern(NamedTuple):
    properties: tuple[tuple[str, Parameter], ...]
    rest: str | None
    at: int


class ArrayPattern(NamedTuple):
    items: tuple[Parameter | None, ...]
    at: int


class Function(NamedTuple):
    """`value` is the expression of an arrow function without a block."""

    parameters: tuple[Parameter, ...]
    body: tuple["Statement", ...]
    value: Union["Expression", None]
    is_async: bool
    at: int


class Call(NamedTuple):
    function: "Expression"
    arguments: tuple["Expression", ...]
    is_optional: bool
    at: int


class New(NamedTuple):
    function: "Expression"
    arguments: tuple["Expression", ...]
    at: int


class Member(NamedTuple):
    value: "Expression"
    name: str
    is_optional: bool
    at: int


class Index(NamedTuple):
    value: "Expression"
    key: "Expression"
    is_optional: bool
    at: int


class Unary(NamedTuple):
    sign: str
    value: "Expression"
    at: int


class Update(NamedTuple):
    sign: str
    target: "Expression"
    at: int


class Binary(NamedTuple):
    left: "Expression"
    sign: str
    right: "Expression"
    at: int


class Conditional(NamedTuple):
    test: "Expression"
    then: "Expression"
    otherwise: "Expression"
    at: int


class Assign(NamedTuple):
    target: "Expression"
    sign: str
    value: "Expression"
    at: int


class Await(NamedTuple):
    value: "Expression"
    at: int


class Unsupported(NamedTuple):
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


class Declare(NamedTuple):
    is_const: bool
    pairs: tuple[tuple[Target, Expression | None], ...]


class Run(NamedTuple):
    """An expression as a statement."""

    value: Expression


class If(NamedTuple):
    test: Expression
    then: tuple["Statement", ...]
    otherwise: tuple["Statement", ...]


class ForOf(NamedTuple):
    target: Target
    items: Expression
    body: tuple["Statement", ...]
    over_keys: bool


class For(NamedTuple):
    first: Union["Statement", None]
    test: Expression | None
    step: Expression | None
    body: tuple["Statement", ...]


class While(NamedTuple):
    test: Expression
    body: tuple["Statement", ...]


class Try(NamedTuple):
    body: tuple["Statement", ...]
    caught: Target | None
    handler: tuple["Statement", ...] | None
    final: tuple["Statement", ...] | None


class Throw(NamedTuple):
    value: Expression


class Return(NamedTuple):
    value: Expression | None


class Jump(NamedTuple):
    """`break` or `continue`."""

    word: str


class Block(NamedTuple):
    body: tuple["Statement", ...]


class Define(NamedTuple):
    name: str
    function: Function


class Meta(NamedTuple):
    value: Expression


class Unknown(NamedTuple):
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


class Statement(NamedTuple):
    """A statement, the text it has in the source, and the comments that belong to it."""

    what: What
    start: int
    end: int
    comments: tuple[Comment, ...] = ()
