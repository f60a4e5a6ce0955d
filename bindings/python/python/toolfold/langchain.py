"""LangChain's ``create_agent``: a middleware that folds what the model sees and judges what it calls.

    agent = create_agent(model, tools=tools, middleware=[Toolfold(arm="auto")], checkpointer=saver)

State is what the graph's messages say; nothing is kept that they do not. A call that policy asks about stops the graph by
``interrupt``: resume it with ``Command(resume=True)``, ``"approve"`` or the decisions of LangChain's own human-in-the-loop
middleware. Anything else is a no.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command, interrupt

from . import Confirm, Conversation, Engine, Forward, Outcome, Refuse, Reply
from ._adapter import Folder, Step, answered_only, judged

__all__ = ["Toolfold"]

Result: TypeAlias = ToolMessage | Command[Any]


class Toolfold(AgentMiddleware):
    """Folds the tools of a LangChain agent. Takes what ``toolfold.Engine`` and ``Engine.conversation`` take."""

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self.folder = Folder(**settings)
        self._shown: dict[str, tuple[object, list[BaseTool]]] = {}

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> ModelResponse:
        return handler(self._folded(request))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        return await handler(self._folded(request))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        engine, conversation, outcome = self._judged(request)
        if not isinstance(outcome, Forward):
            return _answer(request, outcome)
        with self.folder.running(conversation, outcome, GraphBubbleUp, engine):
            result = handler(_run(request, outcome))
        return _noted(conversation, outcome, result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        engine, conversation, outcome = self._judged(request)
        if not isinstance(outcome, Forward):
            return _answer(request, outcome)
        with self.folder.running(conversation, outcome, GraphBubbleUp, engine):
            result = await handler(_run(request, outcome))
        return _noted(conversation, outcome, result)

    def _engine(self, real: list[BaseTool]) -> tuple[tuple[int, ...], Engine]:
        key = tuple(map(id, real))
        return key, self.folder.bind(key, lambda: [convert_to_openai_tool(tool) for tool in real], keep=real)

    def _folded(self, request: ModelRequest) -> ModelRequest:
        real = [tool for tool in request.tools if isinstance(tool, BaseTool)]
        key, engine = self._engine(real)
        about = getattr(request.runtime, "execution_info", None)
        thread = about.thread_id if about else None
        conversation = self.folder.show(engine, thread, answered_only(_steps(request.messages)))
        entries = conversation.entries()
        kept = self._shown.get(conversation.digest)
        hosted = [tool for tool in request.tools if not isinstance(tool, BaseTool)]  # dicts: the provider's own
        if kept is None or kept[0] != key:
            named = {tool.name: tool for tool in real}
            kept = (key, [_shown(entry, named) for entry in entries])
            if len(self._shown) > 64:
                self._shown.clear()
            self._shown[conversation.digest] = kept
        return request.override(tools=[*kept[1], *hosted])

    def _judged(self, request: ToolCallRequest) -> tuple[Engine, Conversation, Outcome]:
        call, state = request.tool_call, request.state
        messages = state["messages"] if isinstance(state, dict) else getattr(state, "messages", state)
        thread = request.runtime.config.get("configurable", {}).get("thread_id")
        steps = answered_only(_steps(messages))
        engine = self.folder.last_shown(thread, steps) or self._engine(request.runtime.tools)[1]
        conversation = self.folder.conversation(engine, thread, steps)
        outcome = judged(conversation, call["name"], call["args"], call["id"])
        if isinstance(outcome, Confirm):
            answer = interrupt({**_call(outcome), "approval": outcome.approval, "shown": outcome.shown})
            outcome = self.folder.settle(conversation, outcome, *_decision(answer))
        elif isinstance(outcome, Forward) and outcome.policy == "confirm":
            # Asked and answered when this step ran before: LangGraph gives answers to a step's interrupts by their order.
            interrupt(_call(outcome))
        return engine, conversation, outcome


def _shown(entry: Any, real: dict[str, BaseTool]) -> BaseTool:
    """The tool as the model is shown it. A copy of the real one, so that other middleware still knows its class."""
    update = {"description": entry.description, "args_schema": entry.parameters}
    if own := real.get(entry.name):
        return own.model_copy(update=update)
    return StructuredTool(name=entry.name, func=lambda **_: "", **update)


def _run(request: ToolCallRequest, outcome: Forward) -> ToolCallRequest:
    real = next(tool for tool in request.runtime.tools if tool.name == outcome.target)
    return request.override(tool_call={**request.tool_call, "name": real.name, "args": outcome.arguments}, tool=real)


def _steps(messages: Sequence[AnyMessage]) -> list[Step]:
    steps: list[Step] = []
    for message in messages:
        if isinstance(message, AIMessage):
            calls = [*message.tool_calls, *message.invalid_tool_calls]
            steps += [(call["id"] or "", call["name"] or "", call["args"]) for call in calls]
        elif isinstance(message, ToolMessage):
            steps.append((message.tool_call_id, message.status != "error"))
    return steps


def _call(outcome: Confirm | Forward) -> dict[str, Any]:
    return {"tool": outcome.target, "arguments": outcome.arguments}


def _decision(answer: Any) -> tuple[bool, str | None]:
    """What a person's answer to an interrupt means, in LangChain's own forms. Whatever is not a yes is a no."""
    if isinstance(answer, dict) and isinstance(answer.get("decisions"), list) and len(answer["decisions"]) == 1:
        answer = answer["decisions"][0]
    if isinstance(answer, dict):
        return answer.get("type") in ("approve", "accept"), answer.get("message")
    return answer is True or answer in ("approve", "accept"), None


def _answer(request: ToolCallRequest, outcome: Reply | Confirm | Refuse) -> ToolMessage:
    status = "success" if isinstance(outcome, Reply) and not outcome.is_error else "error"
    return ToolMessage(outcome.content, tool_call_id=request.tool_call["id"], name=outcome.name, status=status)


def _noted(conversation: Conversation, outcome: Forward, result: Result) -> Result:
    conversation.report_result(outcome.id, not (isinstance(result, ToolMessage) and result.status == "error"))
    if outcome.note and isinstance(result, ToolMessage) and isinstance(result.content, str):
        return result.model_copy(update={"content": outcome.noted(result.content)})
    return result
