"""The types of lines in a transcript.

Field names on disk are Claude Code's (camelCase); here they are snake_case. These types are for
making and reading single lines. Branch, import and export copy the lines themselves, so unknown
fields and types pass through untouched.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Struct, UnsetType

from siding.sessions.kinds import (
    ASSISTANT,
    ATTACHMENT,
    PROGRESS,
    SYSTEM,
    USER,
    PreservedSegment,
    Record,
)


class TranscriptEntry(Struct, rename="camel", tag_field="type", frozen=True, kw_only=True):
    """The base of all types. `v` is the format version; lines of other programs have none."""

    v: int | UnsetType = UNSET


class MessageEntry(TranscriptEntry, frozen=True, kw_only=True):
    """An entry that is a message of the tree. `parent_uuid` is None for a root. ISO 8601 times."""

    uuid: str
    parent_uuid: str | None = None
    logical_parent_uuid: str | UnsetType | None = UNSET
    timestamp: str | UnsetType = UNSET
    session_id: str | UnsetType = UNSET
    is_sidechain: bool | UnsetType = UNSET
    agent_id: str | UnsetType = UNSET
    cwd: str | UnsetType = UNSET
    version: str | UnsetType = UNSET
    git_branch: str | UnsetType = UNSET


class User(MessageEntry, tag=USER, frozen=True, kw_only=True):
    message: Record
    is_meta: bool | UnsetType = UNSET
    is_compact_summary: bool | UnsetType = UNSET
    permission_mode: str | UnsetType = UNSET


class Assistant(MessageEntry, tag=ASSISTANT, frozen=True, kw_only=True):
    message: Record
    is_api_error_message: bool | UnsetType = UNSET
    request_id: str | UnsetType | None = UNSET


class Attachment(MessageEntry, tag=ATTACHMENT, frozen=True, kw_only=True):
    attachment: Record


class CompactMetadata(Struct, rename="camel", frozen=True, kw_only=True, omit_defaults=True):
    """The compaction that a boundary marks. `pre_tokens` is the context's size before it."""

    trigger: str = "auto"
    pre_tokens: int = 0
    user_context: str | UnsetType = UNSET
    messages_summarized: int | UnsetType = UNSET
    pre_compact_discovered_tools: list[str] | UnsetType = UNSET
    preserved_segment: PreservedSegment | UnsetType = UNSET


class SnipMetadata(Struct, rename="camel", frozen=True, kw_only=True):
    removed_uuids: list[str]


class System(MessageEntry, tag=SYSTEM, frozen=True, kw_only=True):
    subtype: str | UnsetType = UNSET
    content: Any = UNSET
    compact_metadata: CompactMetadata | UnsetType = UNSET
    snip_metadata: SnipMetadata | UnsetType = UNSET


class Progress(TranscriptEntry, tag=PROGRESS, frozen=True, kw_only=True):
    """A progress line of an old file. It can be named as the parent of a message."""

    uuid: str
    parent_uuid: str | None = None


class Summary(TranscriptEntry, tag="summary", frozen=True, kw_only=True):
    leaf_uuid: str
    summary: str


class CustomTitle(TranscriptEntry, tag="custom-title", frozen=True, kw_only=True):
    custom_title: str
    session_id: str = ""


class AiTitle(TranscriptEntry, tag="ai-title", frozen=True, kw_only=True):
    ai_title: str
    session_id: str = ""


class Tag(TranscriptEntry, tag="tag", frozen=True, kw_only=True):
    tag: str
    session_id: str = ""


class AgentName(TranscriptEntry, tag="agent-name", frozen=True, kw_only=True):
    agent_name: str
    session_id: str = ""


class AgentColor(TranscriptEntry, tag="agent-color", frozen=True, kw_only=True):
    agent_color: str
    session_id: str = ""


class AgentSetting(TranscriptEntry, tag="agent-setting", frozen=True, kw_only=True):
    agent_setting: str
    session_id: str = ""


class ModeEntry(TranscriptEntry, tag="mode", frozen=True, kw_only=True):
    mode: str
    session_id: str = ""


class LastPrompt(TranscriptEntry, tag="last-prompt", frozen=True, kw_only=True):
    last_prompt: str
    session_id: str = ""


class TaskSummary(TranscriptEntry, tag="task-summary", frozen=True, kw_only=True):
    summary: str
    timestamp: str = ""
    session_id: str = ""


class PrLink(TranscriptEntry, tag="pr-link", frozen=True, kw_only=True):
    pr_number: int
    pr_url: str = ""
    pr_repository: str = ""
    timestamp: str = ""
    session_id: str = ""


class WorktreeState(TranscriptEntry, tag="worktree-state", frozen=True, kw_only=True):
    """The worktree that the session works in. `worktree_session` is None after it left it.

    A session that never entered a worktree has no such entry.
    """

    worktree_session: Record | None
    session_id: str = ""


class Goal(TranscriptEntry, tag="goal", frozen=True, kw_only=True):
    state: Record
    session_id: str = ""
    timestamp: str = ""


class GoalCleared(TranscriptEntry, tag="goal-cleared", frozen=True, kw_only=True):
    session_id: str = ""
    timestamp: str = ""


class FileHistorySnapshot(TranscriptEntry, tag="file-history-snapshot", frozen=True, kw_only=True):
    message_id: str
    snapshot: Record
    is_snapshot_update: bool = False


class AttributionSnapshot(TranscriptEntry, tag="attribution-snapshot", frozen=True, kw_only=True):
    message_id: str
    surface: Any = UNSET
    file_states: Record | UnsetType = UNSET


class ContentReplacement(TranscriptEntry, tag="content-replacement", frozen=True, kw_only=True):
    """Tool results that were sent in another form.

    Each of `replacements` has the call's id (`toolUseId`) and the text (`replacement`).
    """

    replacements: list[Record]
    session_id: str = ""
    agent_id: str | UnsetType = UNSET


class QueueOperation(TranscriptEntry, tag="queue-operation", frozen=True, kw_only=True):
    operation: Any = UNSET
    session_id: str = ""


class SpeculationAccept(TranscriptEntry, tag="speculation-accept", frozen=True, kw_only=True):
    session_id: str = ""


class CollapseCommit(TranscriptEntry, tag="marble-origami-commit", frozen=True, kw_only=True):
    """A part of the context that was collapsed; the order of these entries matters."""

    collapse_id: str
    session_id: str = ""


class CollapseSnapshot(TranscriptEntry, tag="marble-origami-snapshot", frozen=True, kw_only=True):
    staged: list[Any] = []
    armed: bool = False
    last_spawn_tokens: float = 0
    session_id: str = ""


class CostState(TranscriptEntry, tag="cost-state", frozen=True, kw_only=True):
    """A client's running total: the only entry that counts the calls made by compactions."""

    session_id: str = ""
    timestamp: str = ""
    total_cost_usd: float | UnsetType = msgspec.field(default=UNSET, name="totalCostUSD")
    model_usage: dict[str, Record] | UnsetType = UNSET


class Tombstone(TranscriptEntry, tag="tombstone", frozen=True, kw_only=True):
    """Says that the message `uuid` was withdrawn. Only Siding writes it: no line is removed."""

    uuid: str
    session_id: str = ""
    timestamp: str = ""


class ForeignLine(TranscriptEntry, tag="foreign-line", frozen=True, kw_only=True):
    """A line of another program's transcript that is not a message, kept for the export."""

    format: str
    line: str
    session_id: str = ""


class Unknown(Struct, frozen=True, kw_only=True):
    """An entry with a type or fields that this release does not know; it is left as it is."""

    type: str
    record: Record
    problem: str = ""


MESSAGE_ENTRIES: tuple[type[MessageEntry], ...] = (User, Assistant, Attachment, System)
AnyEntry: TypeAlias = (
    User
    | Assistant
    | Attachment
    | System
    | Progress
    | Summary
    | CustomTitle
    | AiTitle
    | Tag
    | AgentName
    | AgentColor
    | AgentSetting
    | ModeEntry
    | LastPrompt
    | TaskSummary
    | PrLink
    | WorktreeState
    | Goal
    | GoalCleared
    | FileHistorySnapshot
    | AttributionSnapshot
    | ContentReplacement
    | QueueOperation
    | SpeculationAccept
    | CollapseCommit
    | CollapseSnapshot
    | CostState
    | Tombstone
    | ForeignLine
)


def typed(record: Mapping[str, Any]) -> AnyEntry | Unknown:
    """Return the record as its entry type, or as `Unknown` when no type above fits it."""
    try:
        entry: AnyEntry = msgspec.convert(record, AnyEntry, strict=False)
    except msgspec.ValidationError as error:
        kind = record.get("type")
        return Unknown(
            type=kind if isinstance(kind, str) else "", record=dict(record), problem=str(error)
        )
    return entry


def record_of(entry: AnyEntry) -> Record:
    """Return the entry as it is written: its type first, unset fields left out."""
    record: Record = msgspec.to_builtins(entry)
    return record
