"""The agent of ``asking`` under Microsoft's agent-framework."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionInvocationLayer,
    FunctionMiddleware,
    FunctionTool,
    Message,
    MiddlewareTermination,
    ResponseStream,
    tool,
)
from agent_framework._compaction import set_excluded
from hosts.asking import DELETE, DONE, RENAME, Asking, Sheets, tools_of

from toolfold.agent_framework import fold
from toolfold.testing import INJECTED, OUTPUT, PARTS


class Scripted(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc]
    own: Any
    last = DONE

    def _inner_get_response(self, *, messages: Any, stream: bool, options: Any, **_: Any) -> Any:
        def said() -> list[Content]:
            names = [tool.name for tool in options.get("tools") or []]
            calls = self.own.says(names, messages[-1].to_dict())
            return [Content.from_function_call(id, name, arguments=json.dumps(own)) for id, name, own in calls]

        async def respond() -> ChatResponse:
            message = Message(role="assistant", contents=said() or [Content.from_text(self.last)])
            return ChatResponse(messages=[message], response_format=options.get("response_format"))

        async def updates() -> Any:
            for content in said() or [Content.from_text(part) for part in PARTS]:
                yield ChatResponseUpdate(role="assistant", contents=[content])

        return ResponseStream(updates(), finalizer=ChatResponse.from_updates) if stream else respond()


class Hooks(FunctionMiddleware):
    def __init__(self, own: Asking) -> None:
        self.own = own

    async def process(self, context: Any, call_next: Any) -> None:
        self.own.hooked.append(context.function.name)
        await call_next()


class Ends(FunctionMiddleware):
    async def process(self, context: Any, call_next: Any) -> None:
        await call_next()
        if context.function.name == RENAME:
            raise MiddlewareTermination(result=context.result)


async def newest_run(messages: list[Message]) -> bool:
    """A compaction strategy."""
    started = [at for at, message in enumerate(messages) if message.role == "user"]
    return any([set_excluded(message, excluded=True) for message in messages[: started[-1]]])


class Own(Asking):
    absent = dict.fromkeys(("nested", "nested rejected"), "the tool of an agent fails if the agent requests an approval")

    def build(self) -> None:
        asks, injects, self.changes = self.wants("own_rule"), self.wants("injected"), self.wants("changes")

        def bound(function: dict[str, Any]) -> FunctionTool:
            name, about = function["name"], function["description"]
            if name == RENAME and injects:
                return tool(rename_sheet)

            async def run(ctx: FunctionInvocationContext, **arguments: Any) -> str:
                result = self.run(name, arguments)
                self._changed(ctx)
                return result

            mode: Any = "always_require" if asks and name == DELETE[0] else "never_require"
            schema = function["parameters"]
            return FunctionTool(name=name, description=about, input_model=schema, func=run, approval_mode=mode)

        def rename_sheet(file_path: str, old_name: str, new_name: str, ctx: FunctionInvocationContext) -> str:
            return self.renamed(ctx.kwargs["user"], file_path, old_name, new_name)

        self.folded, client = fold([bound(each) for each in tools_of(self.arm)], **self.settings), Scripted()
        client.own, self.typed = self, self.wants("output")
        client.last = json.dumps(OUTPUT) if self.typed else DONE
        first: list[Any] = []
        first += [Hooks(self)] if self.wants("hooks") else []
        last: list[Any] = [Ends()] if self.wants("ends") else []
        compacts: Any = {"compaction_strategy": newest_run} if self.wants("trims") else {}
        more: Any = {"default_options": {"response_format": Sheets}} if self.typed else {}
        tools = [own for own in self.folded.tools if not self.changes or own.name != RENAME]
        self.agent: Any = Agent(client=client, tools=tools, middleware=[*first, *self.folded.middleware, *last], **more, **compacts)

    def _changed(self, context: FunctionInvocationContext) -> None:
        """Adds or removes the tool that changes, as a tool of the framework does."""
        if self.changes and self.offered():
            context.add_tools([own for own in self.folded.tools if own.name == RENAME])
        elif self.changes:
            context.remove_tools(RENAME)

    def _went(self, what: Any, session: Any) -> bool:
        given = {"function_invocation_kwargs": {"user": INJECTED}} if self.wants("injected") else {}
        return self._ended(asyncio.run(self.agent.run(what, session=session, **given)), session)

    def _ended(self, made: Any, session: Any) -> bool:
        self.asked = list(made.user_input_requests)
        asked = [one.to_dict() for one in self.asked]
        self.state = json.dumps({"session": session.to_dict(), "asked": asked or json.loads(self.state or "{}").get("asked")})
        if self.typed:
            self.output = made.value.model_dump()
        return bool(self.asked)

    def _session(self) -> AgentSession:
        return AgentSession.from_dict(json.loads(self.state)["session"])

    def start(self) -> bool:
        return self._went("go", self.agent.create_session())

    def again(self) -> bool:
        return self._went("go on", self._session())

    def stream(self) -> bool:
        session = self.agent.create_session()

        async def talk() -> Any:
            stream = self.agent.run("go", session=session, stream=True)
            async for update in stream:
                self.heard += [update.text] if update.text else []
            return await stream.get_final_response()

        return self._ended(asyncio.run(talk()), session)

    def answer(self, said: bool | dict[str, Any]) -> bool:
        asked, session = Content.from_dict(json.loads(self.state)["asked"][0]), self._session()
        edited = isinstance(said, dict)
        own = self.folded.edit(asked, said, session) if edited else asked.to_function_approval_response(approved=said)
        return self._went([Message(role="user", contents=[own])], session)

    def change(self, arguments: dict[str, Any]) -> None:
        stored = json.loads(self.state)
        for request in [*stored["asked"], *_requests(stored["session"])]:
            call = request["function_call"]
            inner = {"name": DELETE[0], "arguments": arguments}
            call["arguments"] = json.dumps(inner if call["name"] == "call_tool" else arguments)
        self.state = json.dumps(stored)


def _requests(value: Any) -> list[dict[str, Any]]:
    """The requests for an approval in a stored session."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    found = [value] if isinstance(value, dict) and value.get("type") == "function_approval_request" else []
    return [*found, *(one for each in inside for one in _requests(each))]
