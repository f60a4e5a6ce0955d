"""LangChain's ``create_agent``: a middleware that folds the model's tools and checks its calls.

    agent = create_agent(model, tools=tools, middleware=[Toolfold(arm="auto")], checkpointer=saver)

All state is in the graph's messages. A call that requires approval stops the graph by ``interrupt``: resume it with
``Command(resume=True)``, ``"approve"`` or the decisions of LangChain's own human-in-the-loop middleware, including ``edit``.
Anything else is a rejection. Without a checkpointer, no one can approve, and the call is refused.

Arms ``native`` and ``append`` need the wire ``anthropic`` (``ChatAnthropic``) or ``openai-responses`` (``ChatOpenAI`` with
``use_responses_api=True``) and the model's name in the settings. Under ``native``, folded tools have ``defer_loading`` in their
``extras``, as for LangChain's ``ProviderToolSearchMiddleware``; OpenAI's own search finds them, or ``expand_tools`` on Anthropic.

Structured output that Chat Completions writes (``ProviderStrategy``) makes every tool strict. Nothing is folded then: arm ``auto`` logs a
warning, and other arms raise a ``StartError`` on the first request.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from langchain.agents import factory
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ToolCallRequest
from langchain.agents.structured_output import ProviderStrategy, ToolStrategy
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.errors import GraphBubbleUp, GraphInterrupt
from langgraph.types import Command, interrupt

from . import Confirm, Conversation, Engine, Forward, Outcome, Refuse, Reply, _settings
from ._adapter import Folder, ToolSet
from ._consent import NOBODY, Answer, Call, judged, note_of, noted
from ._langchain_messages import OWN, SEARCH, answer_content, direct_message, open_call, restored, steps_of, storable
from ._names import MEMBER, unnamed
from ._settings import Fields, Unpack
from ._steps import answered_only, closed

__all__ = ["Settings", "Toolfold"]

Result: TypeAlias = ToolMessage | Command[Any]

#: Why an agent's tools cannot be folded.
STRICT = (
    "LangChain makes every tool strict if Chat Completions writes the structured output, and a strict folded tool cannot "
    "have the arguments that it does not show: use `ToolStrategy` or a model with `use_responses_api=True` to fold"
)
#: The maximum number of stored calls with a requested approval, for tools that interrupt themselves.
MOST_ASKED = 256


#: The arms that the framework supports.
Arm: TypeAlias = _settings.Arm


@dataclass(frozen=True)
class Settings(_settings.Settings):
    """The settings of the adapter, as ``toolfold.Engine`` and ``Engine.conversation`` take them."""

    NOT_AUTO = ("native",)
    arm: Arm = "auto"


class Toolfold(AgentMiddleware):
    """Folds the tools of a LangChain agent. List a middleware that adds tools before this one.

    :param settings: the settings; the same members are accepted as keywords.
    """

    def __init__(self, settings: Settings | None = None, **fields: Unpack[Fields[Arm]]) -> None:
        super().__init__()
        self.folder = Folder(Settings.of(settings, fields))
        # The graph ends if every tool that answered has `return_direct`: answers of toolfold then have this name.
        self.tools = [OWN]
        #: By the array's digest: the tool set, the shown tools, and whether the provider defers any of them.
        self._shown: dict[str, tuple[ToolSet[BaseTool], list[BaseTool], bool]] = {}
        self._answers: OrderedDict[tuple[str, str], int] = OrderedDict()

    def wrap_model_call(self, request: ModelRequest, handler: Callable[[ModelRequest], ModelResponse]) -> ModelResponse:
        conversation, folded = self._folded(request)
        return _direct(conversation, handler(folded))

    async def awrap_model_call(
        self, request: ModelRequest, handler: Callable[[ModelRequest], Awaitable[ModelResponse]]
    ) -> ModelResponse:
        conversation, folded = self._folded(request)
        return _direct(conversation, await handler(folded))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Result]) -> Result:
        engine, conversation, outcome = self._judged(request)
        if not isinstance(outcome, Forward):
            return _answer(request, conversation, outcome)
        with self.folder.running(conversation, outcome, GraphBubbleUp, engine):
            result = handler(_run(request, outcome))
        return _noted(conversation, outcome, result)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Result]]
    ) -> Result:
        engine, conversation, outcome = self._judged(request)
        if not isinstance(outcome, Forward):
            return _answer(request, conversation, outcome)
        with self.folder.running(conversation, outcome, GraphBubbleUp, engine):
            result = await handler(_run(request, outcome))
        return _noted(conversation, outcome, result)

    def _tool_set(self, real: list[BaseTool]) -> ToolSet[BaseTool]:
        return self.folder.tool_set(real, convert_to_openai_tool, _members)

    def _folded(self, request: ModelRequest) -> tuple[Conversation, ModelRequest]:
        real = [tool for tool in request.tools if isinstance(tool, BaseTool) and tool is not OWN]
        if _is_strict(request):
            self.folder.unfold(STRICT)
        tools = self._tool_set(real)
        thread, steps = _thread(request.runtime), steps_of(request.messages)
        if self.folder.may_ask:
            self.folder.refused(thread, closed(steps))
        mark = request.messages[-1].id if request.messages else None
        hidden = {message.id for message in _messages(request.state)} - {message.id for message in request.messages}
        conversation = self.folder.show(tools.engine, thread, answered_only(steps), mark, hidden)
        kept = self._shown.get(conversation.digest)
        hosted = [tool for tool in request.tools if not isinstance(tool, BaseTool)]  # dicts: provider-run tools
        if kept is None or kept[0] is not tools:
            named, entries = {tool.name: tool for tool in real}, conversation.entries()
            kept = (tools, [_shown(entry, named) for entry in entries], any(entry.deferred for entry in entries))
            if len(self._shown) > 64:
                self._shown.clear()
            self._shown[conversation.digest] = kept
        search = SEARCH.get(conversation.wire)
        if search and kept[2] and search["type"] not in [tool.get("type") for tool in hosted]:
            hosted.append(search)
        return conversation, request.override(tools=[*kept[1], *hosted], messages=restored(request.messages))

    def _judged(self, request: ToolCallRequest) -> tuple[Engine, Conversation, Outcome | str]:
        state: Any = request.state
        messages, thread = _messages(state), _thread(request.runtime)
        real = [tool for tool in request.runtime.tools if tool is not OWN]
        shown, hidden = self.folder.last_shown(thread, (message.id for message in reversed(messages)))
        engine = shown or self._tool_set(real).engine
        steps = answered_only(steps_of([message for message in messages if message.id not in hidden]))
        conversation = self.folder.conversation(engine, thread, steps)
        call = open_call(request.tool_call, state, messages)
        if why := unnamed(conversation, call.name, call.arguments):
            return engine, conversation, why
        asked = {one.id for one in self.folder.waiting(thread)}
        outcome = judged(conversation, call)
        if isinstance(outcome, Confirm):
            return engine, conversation, self._asked(conversation, call, outcome, outcome.approval in asked)
        if isinstance(outcome, Forward) and outcome.policy == "confirm":
            # It was approved when this step ran before: LangGraph repeats the answers to a step's interrupts in order.
            for _ in range(self._answers.get((conversation.id, outcome.id), 1)):
                interrupt(_question(outcome))
        return engine, conversation, outcome

    def _asked(
        self, conversation: Conversation, call: Call, asked: Confirm, shown: bool
    ) -> Outcome:
        """Requests an approval. LangGraph repeats the answers to earlier interrupts of this step in order, so only the last
        one can belong to an approval that was shown before."""
        if not conversation.id:
            return self.folder.settle(conversation, asked, False, f"{NOBODY}: the agent has no checkpointer")
        answers, pause = _all_answers({**_question(asked), "approval": asked.approval, "shown": asked.shown})
        if not answers:
            raise pause
        answer = _decision(answers[-1], call)
        if not shown:
            self.folder.replace(asked, call.id)
            if answer.approved:
                raise pause
        self._answers[conversation.id, asked.id] = len(answers)
        while len(self._answers) > MOST_ASKED:
            self._answers.popitem(last=False)
        return self.folder.settle(conversation, asked, answer.approved, answer.reason, answer.edited)


def _all_answers(question: dict[str, Any]) -> tuple[list[Any], GraphInterrupt]:
    answers: list[Any] = []
    while True:
        try:
            answers.append(interrupt(question))
        except GraphInterrupt as pause:
            return answers, pause


def _thread(runtime: Any) -> str | None:
    """Returns the thread and its sub-graph: nested agents have their own conversations."""
    about = getattr(runtime, "execution_info", None)
    if about is None or not about.thread_id:
        return None
    above = about.checkpoint_ns.rpartition("|")[0]
    return f"{about.thread_id}/{above}" if above else str(about.thread_id)


def _messages(state: Any) -> list[AnyMessage]:
    messages: list[AnyMessage] = state["messages"] if isinstance(state, dict) else getattr(state, "messages", state)
    return messages


def _direct(conversation: Conversation, response: ModelResponse) -> ModelResponse:
    result = [direct_message(conversation, one) if isinstance(one, AIMessage) else one for one in response.result]
    return ModelResponse(result=result, structured_response=response.structured_response)


def _is_strict(request: ModelRequest) -> bool:
    """Returns whether LangChain makes every tool of a request strict."""
    model, wanted = request.model, request.response_format
    if wanted is None or isinstance(wanted, ToolStrategy) or getattr(model, "use_responses_api", False):
        return False
    if not any(base.__name__ == "BaseChatOpenAI" for base in type(model).__mro__):
        return False
    return isinstance(wanted, ProviderStrategy) or factory._supports_provider_strategy(model, request.tools)


def _members(tool: BaseTool) -> tuple[Any, ...]:
    # A tool has more members once it has run, which its definition does not depend on.
    shown = (tool.name, tool.description, tool.args_schema, tool.extras, tool.metadata, tool.tags)
    return id(tool), *shown, tool.return_direct, tool.response_format


def _shown(entry: Any, real: dict[str, BaseTool]) -> BaseTool:
    """Returns the tool as the model sees it: a copy of the real one, so that other middleware still knows its class."""
    update = {"description": entry.description, "args_schema": entry.parameters}
    if own := real.get(entry.name):
        more = {"extras": {**(own.extras or {}), "defer_loading": True}} if entry.deferred else {}
        return own.model_copy(update={**update, **more})
    return StructuredTool(name=entry.name, func=lambda **_: "", **update)


def _run(request: ToolCallRequest, outcome: Forward) -> ToolCallRequest:
    # A tool that another middleware adds for a run is in the request, and not among the agent's.
    every = [tool for tool in (request.tool, *request.runtime.tools) if tool is not None]
    # If neither has it, LangChain answers that there is no such tool.
    real: Any = next((tool for tool in every if tool.name == outcome.target), None)
    return request.override(tool_call={**request.tool_call, "name": outcome.target, "args": outcome.arguments}, tool=real)


def _question(outcome: Confirm | Forward) -> dict[str, Any]:
    return {"tool": outcome.target, "arguments": storable(outcome.arguments)}


def _decision(answer: Any, call: Call) -> Answer:
    """Interprets the answer to an interrupt in LangChain's own formats. Anything but an approval is a rejection."""
    if isinstance(answer, dict) and isinstance(answer.get("decisions"), list) and len(answer["decisions"]) == 1:
        answer = answer["decisions"][0]
    if not isinstance(answer, dict):
        return Answer(answer is True or answer in ("approve", "accept"))
    action = answer.get("edited_action")
    if answer.get("type") == "edit" and isinstance(action, dict) and isinstance(action.get("args"), dict):
        return Answer(True, edited=(str(action.get("name") or call.name), action["args"]))
    return Answer(answer.get("type") in ("approve", "accept"), answer.get("message"))


def _answer(request: ToolCallRequest, conversation: Conversation, outcome: Reply | Confirm | Refuse | str) -> ToolMessage:
    """Returns an answer of toolfold, which never ends the run."""
    status = "success" if isinstance(outcome, Reply) and not outcome.is_error else "error"
    content, added = answer_content(conversation.wire, outcome)
    name = OWN.name if getattr(request.tool, "return_direct", False) else request.tool_call["name"]
    more: dict[str, Any] = {"additional_kwargs": {MEMBER: added}} if added else {}
    return ToolMessage(content, tool_call_id=request.tool_call["id"], name=name, status=status, **more)


def _noted(conversation: Conversation, outcome: Forward, result: Result) -> Result:
    conversation.report_result(outcome.id, not (isinstance(result, ToolMessage) and result.status == "error"))
    if isinstance(result, ToolMessage) and isinstance(result.content, str) and note_of(conversation, outcome):
        return result.model_copy(update={"content": noted(conversation, outcome, result.content)})
    return result
