"""The messages of a LangChain agent: their calls and answers, and the names and numbers in them.

LangGraph's checkpoints cannot store integers of more than 64 bits. In a message, they are replaced with texts; the record of the
call has every digit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage, ToolMessage
from langchain_core.tools import StructuredTool

from . import Confirm, Conversation, Refuse, Reply
from ._consent import Call
from ._names import MEMBER, original, record, value
from ._steps import Step, loaded

#: The name under which toolfold answers a call of a tool with ``return_direct``. The model never sees it.
OWN = StructuredTool.from_function(lambda: "", name="toolfold_answer", description="Answers of toolfold.")

#: The provider's own search for deferred tools, by wire. On Anthropic, the answers of ``expand_tools`` refer to the tools.
SEARCH: dict[str, dict[str, Any]] = {"openai-responses": {"type": "tool_search"}}

#: The key under which LangChain's human-in-the-loop middleware stores edited calls, by the id of the call.
EDITS = "hitl_edited_tool_calls"

#: The key of the metadata of a message under which its original content is stored, as JSON text.
CONTENT = "toolfold_content"


def steps_of(messages: Sequence[AnyMessage]) -> list[Step]:
    """Returns the calls and answers in messages."""
    steps: list[Step] = []
    for message in messages:
        if isinstance(message, AIMessage):
            for block in message.content if isinstance(message.content, list) else ():
                steps += _searched(block) if isinstance(block, dict) else []
            records = records_of(message)
            steps += [(call["id"] or "", call["name"], exact(records, call)) for call in message.tool_calls]
            steps += [(call["id"] or "", call["name"] or "", call["args"]) for call in message.invalid_tool_calls]
        elif isinstance(message, ToolMessage):
            steps.append((message.tool_call_id, message.status != "error"))
    return steps


def _searched(block: Mapping[str, Any]) -> list[Step]:
    """Returns the tools that OpenAI's search loaded, in either format of LangChain's content blocks."""
    if block.get("type") == "tool_search_output":
        return loaded(block.get("id"), block.get("tools"))
    output = block.get("output")
    if block.get("type") == "server_tool_result" and isinstance(output, dict):
        return loaded(block.get("tool_call_id"), output.get("tools"))
    return []


def answer_content(wire: str, outcome: Reply | Confirm | Refuse | str) -> tuple[Any, list[dict[str, Any]]]:
    """Returns the content of an answer of toolfold, and the blocks that follow all answers: definitions of opened tools."""
    content = outcome if isinstance(outcome, str) else outcome.content
    if not isinstance(outcome, Reply) or wire not in ("anthropic", "openai-responses"):
        return content, []
    answer, *added = outcome.messages
    if wire == "anthropic" and not outcome.is_error:
        return answer["content"][0]["content"], [block for message in added for block in message["content"]]
    return content, [block for message in added for block in message.get("content", [message])]


def open_call(call: Mapping[str, Any], state: Any, messages: Sequence[AnyMessage]) -> Call:
    """Returns a call as it is about to run, including a person's edit, which LangChain's own middleware may apply only after
    this one. The message is found by its id, which LangGraph uses to distinguish messages."""
    edits = state.get(EDITS) if isinstance(state, dict) else None
    edited = (edits or {}).get(call["id"])
    own = edited if isinstance(edited, dict) else call
    said = (message for message in reversed(messages) if isinstance(message, AIMessage))
    source = next((message for message in said if any(one["id"] == call["id"] for one in message.tool_calls)), None)
    arguments = exact(records_of(source), call) if source and own is call else own["args"]
    return Call(own["name"], arguments, call["id"], source.id if source else None)


def records_of(message: AIMessage) -> Mapping[str, Any]:
    """Returns the records of the calls of a message, by their ids."""
    records = message.response_metadata.get(MEMBER)
    return records if isinstance(records, dict) else {}


def exact(records: Mapping[str, Any], call: Mapping[str, Any]) -> Any:
    """Returns the arguments of a call with every digit, unless another layer changed them."""
    own = records.get(call["id"] or "")
    inner = _inner(own) if own else None
    return inner if inner is not None and storable(inner) == call["args"] else call["args"]


def storable(value: Any) -> Any:
    """Returns JSON data with texts instead of the integers that a checkpoint cannot store."""
    if isinstance(value, dict):
        return {key: storable(one) for key, one in value.items()}
    if isinstance(value, list):
        return [storable(one) for one in value]
    return str(value) if type(value) is int and not -(1 << 63) <= value < 1 << 64 else value


def direct_message(conversation: Conversation, message: AIMessage) -> AIMessage:
    """Returns a message whose calls have the names of the tools that run, and that a checkpoint can store."""
    calls, records, content = [], {}, message.content
    metadata = dict(message.response_metadata)
    for call in message.tool_calls:
        own, given = record(conversation, call["name"], call["args"]), call["args"]
        stored = storable(given)
        if stored != given:
            own = own or {"direct": [call["name"], json.dumps(given)]}
            own |= {"name": call["name"], "arguments": json.dumps(given)}
            content = storable(content)
        if own:
            records[call["id"] or ""] = own
            call = {**call, "name": own["direct"][0], "args": storable(_inner(own))}
        calls.append(call)
    if not records:
        return message
    if content != message.content:
        metadata[CONTENT] = json.dumps(message.content)
    update = {"content": content, "tool_calls": calls, "response_metadata": {**metadata, MEMBER: records}}
    return message.model_copy(update=update)


def _inner(own: Mapping[str, Any]) -> dict[str, Any]:
    inner: dict[str, Any] = json.loads(own["direct"][1])
    return inner


def restored(messages: Sequence[AnyMessage]) -> list[AnyMessage]:
    """Returns messages as the model wrote and read them, for the next request. Unchanged messages are the same objects."""
    names: dict[str, tuple[str, set[str]]] = {}
    sent, added = list[AnyMessage](), list[Any]()
    for message in messages:
        if added and not isinstance(message, ToolMessage):
            sent.append(SystemMessage(added))
            added = []
        if isinstance(message, AIMessage):
            records = records_of(message)
            for call in message.tool_calls:
                own = records.get(call["id"] or "")
                names[call["id"] or ""] = (own["name"], {own["direct"][0], OWN.name}) if own else (call["name"], {OWN.name})
            message = _written(message, records) if records else message
        elif isinstance(message, ToolMessage) and message.tool_call_id in names:
            name, replaced = names[message.tool_call_id]
            message = message.model_copy(update={"name": name}) if message.name in replaced else message
        sent.append(message)
        if isinstance(message, ToolMessage):
            added += message.additional_kwargs.get(MEMBER, [])
    return [*sent, SystemMessage(added)] if added else sent


def _written(message: AIMessage, records: Mapping[str, Any]) -> AIMessage:
    calls = []
    for call in message.tool_calls:
        if own := records.get(call["id"] or ""):
            own = {**own, "arguments": value(own["arguments"])}
            name, arguments = original(own, call["name"], exact(records, call))
            call = {**call, "name": name, "args": arguments}
        calls.append(call)
    metadata = {key: own for key, own in message.response_metadata.items() if key not in (MEMBER, CONTENT)}
    content = message.response_metadata.get(CONTENT)
    update: dict[str, Any] = {} if content is None else {"content": json.loads(content)}
    return message.model_copy(update={**update, "tool_calls": calls, "response_metadata": metadata})
