"""What can be asked of an agent over its protocol."""

from enum import StrEnum

from siding.ground.namedtuples import NamedTuple


class Evidence(StrEnum):
    """What in an agent's own record shows that a prompt was taken."""

    ID = "id"  # our id of the prompt
    TEXT = "text"  # its text, at its place: equal texts are not told apart
    NONE = "none"


class Abilities(NamedTuple):
    """What can be asked of an agent over its protocol. The docs' table is made of these."""

    evidence: Evidence = Evidence.NONE
    steers: bool = False  # a prompt can go into the running turn
    asks: bool = False  # it asks before it uses a tool
    gives_reason: bool = False  # why something is denied reaches the model
    always: bool = False  # "not again in this conversation" has a way that writes no file
    questions: bool = False  # it puts questions of its own, with options
    models: bool = False  # the model can be changed in a conversation
    modes: bool = False
    efforts: bool = False
    effort_variable: str = ""  # of its environment: it goes before an effort that is set
    pictures: bool = False
    commands: bool = False  # it says which commands of its own there are
    compacts: bool = False
    goes_back: bool = False  # it can go on from before an earlier prompt
    own_screen: bool = False  # the conversation can be opened on the agent's own screen
    servers: bool = False  # it is given servers of tools (MCP) that are programs
    web_servers: bool = False  # and those that are reached over http
    remembers: bool = True  # it goes on after its end with what was said
    takes_news: bool = True  # what it has to know, as an undo, is told with a prompt
    # It is told to end its turn; else `stop` only says so, and its process is sent SIGINT.
    stops: bool = True
