"""The model of an agent of the OpenAI Agents SDK, with calls by the names of the tools that run.

The SDK requires call ids that are unique in a run. Local models restart the numbering in each message: a repeated id is replaced
here and restored in the next request.

Deferred tools are deferred only here: the SDK has other keys for deferred tools in its approvals.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from agents import FunctionTool, Model, ModelResponse, ToolSearchTool
from agents.tool import Tool
from openai.types.responses import ResponseFunctionToolCall, ResponseToolSearchOutputItem

from . import Conversation
from ._adapter import Added
from ._names import MEMBER, Record, original, record
from ._openai_agents_results import steps_of
from ._steps import Step, answered_only, loaded, open_loaded

#: The key that the SDK stores with an item and does not send to providers of Responses.
DATA = "provider_data"

#: The positions of two arguments of a request.
INPUT, TOOLS = 1, 3


class Names:
    """The calls of one run: the model's original calls, by the id that the SDK has for the call.

    :param hidden: the names of the run's tools that no request has.
    :param added: the definitions that follow an answer.
    :param seen: the ids of the answers in the last request. It changes with each request.
    :param begin: returns the conversation of a history.
    :param before: the same for the tools that the run had before, if they changed.
    """

    def __init__(
        self,
        conversation: Conversation,
        hidden: frozenset[str],
        added: Added,
        seen: set[str],
        begin: Callable[[list[Step]], Conversation],
        before: Names | None = None,
    ) -> None:
        self.conversation, self.hidden, self.added = conversation, hidden, added
        self._seen, self._begin = seen, begin
        self.deferred = {entry.name for entry in conversation.entries() if entry.deferred}
        self.records: dict[str, Record] = before.records if before else {}
        self._loaded: set[str] = before._loaded if before else set()
        #: The calls of this run as the model wrote them, by its ids: a request may contain only their answers.
        self._calls: dict[str, tuple[str, str]] = before._calls if before else {}

    def shown(self, tools: Sequence[Tool]) -> list[Tool]:
        shown = [tool for tool in tools if tool.name not in self.hidden]
        if not self.deferred:
            return shown
        made = [replace(own, defer_loading=True) if own.name in self.deferred else own for own in shown if isinstance(own, FunctionTool)]
        others = [tool for tool in shown if not isinstance(tool, FunctionTool)]
        search = [] if any(isinstance(tool, ToolSearchTool) for tool in others) else [ToolSearchTool()]
        return [*made, *others, *search]

    def follow(self, items: Sequence[Any]) -> None:
        """Continues with the conversation of a request if the SDK's input filter removed answers that the model saw before."""
        outputs = (item for item in items if isinstance(item, dict) and item.get("type") == "function_call_output")
        answers = {item["call_id"] for item in outputs}
        if not self._seen <= answers:
            self.conversation = self._begin(answered_only(steps_of(items)))
            self.conversation.entries()  # Marks the start of the model's next message.
        self._seen.clear()
        self._seen.update(answers)

    def restored(self, items: Any) -> Any:
        """Returns the input as the model wrote and read it."""
        if isinstance(items, str):
            return items
        ids: dict[str, str] = {}
        written = [self._written(item, ids) for item in items]
        return self._with_added(written) if self.conversation.arm == "append" else written

    def _with_added(self, items: Sequence[Any]) -> list[Any]:
        """Returns the input with the definitions of opened tools, after the answers that opened them."""
        called, shown = dict(self._calls), set[str]()
        sent, tools = list[Any](), list[Any]()

        def flush() -> None:
            if tools:
                sent.append({"type": "additional_tools", "role": "developer", "tools": list(tools)})
                tools.clear()

        for item in items:
            kind = item.get("type") if isinstance(item, dict) else None
            if kind == "function_call":
                called[item["call_id"]] = (item["name"], item["arguments"])
            if kind != "function_call_output":
                flush()
            elif call := called.get(item["call_id"]):
                new = [tool for tool in self.added.tools(*call) if tool["name"] not in shown]
                shown |= {tool["name"] for tool in new}
                tools += new
            sent.append(item)
        flush()
        return sent

    def _written(self, item: Any, ids: dict[str, str]) -> Any:
        if not isinstance(item, dict):
            return item
        kind, id = item.get("type"), item.get("call_id", "")
        if kind == "function_call_output" and id in ids:
            return {**item, "call_id": ids[id]}
        data = item.get(DATA)
        own = (data.get(MEMBER) if isinstance(data, dict) else None) or self.records.get(id)
        if kind != "function_call" or own is None:
            return item
        ids[id] = own["id"]
        name, arguments = original(own, item["name"], item["arguments"])
        sent = {**item, "call_id": own["id"], "name": name, "arguments": arguments}
        if "namespace" in own:
            sent["namespace"] = own["namespace"]
        left = {key: value for key, value in (data or {}).items() if key != MEMBER}
        sent.pop(DATA, None)
        return {**sent, DATA: left} if left else sent

    def direct(self, output: Sequence[Any], items: Any, *, rename: bool) -> list[Any]:
        """Returns the output of a response with the names of the tools that run, and a unique id for each call."""
        taken = {item.get("call_id") for item in items if isinstance(item, dict)} if not isinstance(items, str) else set()
        seen: set[Any] = set(taken) if rename else set()
        for item in output:
            if isinstance(item, ResponseToolSearchOutputItem):
                self._load(item)
        return [self._direct(item, seen, rename) if isinstance(item, ResponseFunctionToolCall) else item for item in output]

    def _load(self, item: ResponseToolSearchOutputItem) -> None:
        """Opens the tools that the provider's own search loaded: the model has read them."""
        steps = loaded(item.id, [tool.model_dump() for tool in item.tools])
        if item.id not in self._loaded:
            self._loaded.add(item.id)
            open_loaded(self.conversation, steps)

    def _direct(self, item: ResponseFunctionToolCall, seen: set[Any], rename: bool) -> ResponseFunctionToolCall:
        own = record(self.conversation, item.name, item.arguments)
        self._calls[item.call_id] = (item.name, item.arguments)
        # The API's form of a call of a tool that the array does not have in full.
        loaded_by_name = item.namespace == item.name and item.name in self.deferred | self.hidden
        id, number = item.call_id, 2
        while rename and id in seen:
            id, number = f"{item.call_id}-{number}", number + 1
        seen.add(id)
        if own is None and id == item.call_id and not loaded_by_name:
            return item
        own = own or {"name": item.name, "arguments": item.arguments, "direct": [item.name, item.arguments]}
        own["id"] = item.call_id
        if loaded_by_name:
            own["namespace"] = item.namespace
        self.records[id] = own
        name, arguments = own["direct"]
        data = {**(getattr(item, DATA, None) or {}), MEMBER: own}
        changed: dict[str, Any] = {"call_id": id, "name": name, "arguments": arguments, DATA: data}
        return item.model_copy(update={**changed, "namespace": None} if loaded_by_name else changed)


class DirectModel(Model):
    """Wraps any model of the SDK; a request without folded tools is passed through unchanged."""

    def __init__(self, inner: Model) -> None:
        self._inner = inner

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # The SDK determines a provider's features by the class of the model.
        return type(self._inner)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def get_response(self, *given: Any, **named: Any) -> ModelResponse:
        names, items, given, named = _request(given, named)
        response: ModelResponse = await self._inner.get_response(*given, **named)
        if names is not None:
            response.output = names.direct(response.output, items, rename=_has_all(named))
        return response

    async def stream_response(self, *given: Any, **named: Any) -> AsyncIterator[Any]:
        names, items, given, named = _request(given, named)
        events: Any = self._inner.stream_response(*given, **named)
        done: list[Any] = []
        async with aclosing(events):
            async for event in events:
                if names and event.type == "response.output_item.done":
                    done.append(event.item)
                    item = names.direct(done, items, rename=_has_all(named))[-1]
                    event = event.model_copy(update={"item": item})
                elif names and event.type == "response.completed":
                    output = names.direct(event.response.output, items, rename=_has_all(named))
                    event = event.model_copy(update={"response": event.response.model_copy(update={"output": output})})
                yield event

    async def close(self) -> None:
        await self._inner.close()

    def get_retry_advice(self, request: Any) -> Any:
        return self._inner.get_retry_advice(request)

    async def _cleanup_on_run_end(self, owner: object) -> None:
        await self._inner._cleanup_on_run_end(owner)


def _request(given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Names | None, Any, tuple[Any, ...], dict[str, Any]]:
    """Parses a request of the SDK, whose arguments are positional or named. Returns the names of its run, its input as the SDK
    has it, and the arguments with the input and the tools that the model gets."""
    every = list(given)

    def take(name: str, at: int) -> Any:
        return named[name] if name in named else every[at]

    items, tools = take("input", INPUT), take("tools", TOOLS)
    if (names := names_of(tools)) is None:
        return None, items, given, named
    if _has_all(named) and not isinstance(items, str):
        names.follow(items)
    for name, at, value in (("input", INPUT, names.restored(items)), ("tools", TOOLS, names.shown(tools))):
        if name in named:
            named[name] = value
        else:
            every[at] = value
    return names, items, tuple(every), named


def names_of(tools: Sequence[Tool]) -> Names | None:
    """Returns the names of the run that these tools belong to; None if they are not folded."""
    invokers = (tool.on_invoke_tool for tool in tools if isinstance(tool, FunctionTool))
    found = (getattr(invoker, "names", None) for invoker in invokers)
    return next((names for names in found if isinstance(names, Names)), None)


def _has_all(more: dict[str, Any]) -> bool:
    """Returns whether a request has the whole history. If the provider stores the history, the ids are the provider's."""
    return not (more.get("previous_response_id") or more.get("conversation_id"))
