"""The agent of ``asking`` under Google's ADK."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from typing import Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.apps import App
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.runners import Runner
from google.adk.sessions.sqlite_session_service import SqliteSessionService
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from hosts.asking import DELETE, DONE, RENAME, Asking, Sheets, tools_of
from hosts.google_adk import SESSION, asked_in

from toolfold.google_adk import FoldedToolset
from toolfold.testing import INJECTED, OUTPUT, PARTS, Script

STREAMS = RunConfig(streaming_mode=StreamingMode.SSE)
#: ADK's own tool for the output of an agent with tools.
LAST = "set_model_response"


class Model(BaseLlm):
    own: Any

    async def generate_content_async(self, request: Any, stream: bool = False) -> Any:
        declared = [own.name for tool in request.config.tools or [] for own in tool.function_declarations or []]
        names = [name for name in declared if name != LAST]
        calls = self.own.says(names, request.contents[-1].model_dump(mode="json"))
        if not calls and LAST in declared:
            calls = [("last", LAST, OUTPUT)]
        parts = [
            types.Part(function_call=types.FunctionCall(id=id, name=name, args=arguments))
            for id, name, arguments in calls
        ]
        for text in PARTS if stream and not parts else ():
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), partial=True)
        yield LlmResponse(content=types.Content(role="model", parts=parts or [types.Part(text=DONE)]))


class Real(BaseTool):
    def __init__(self, own: Own, function: dict[str, Any]) -> None:
        super().__init__(name=function["name"], description=function["description"])
        self.own, self.schema = own, function["parameters"]

    def _get_declaration(self) -> Any:
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=self.schema
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: Any) -> Any:
        if self.own.asks and self.name == DELETE[0] and not tool_context.tool_confirmation:
            tool_context.request_confirmation(hint="sure?")  # As FunctionTool does for require_confirmation.
            return {"error": "it requires a confirmation"}
        if self.own.ends and self.name == RENAME:
            tool_context.actions.skip_summarization = True
        return {"result": self.own.run(self.name, args)}


class Own(Asking):
    absent = {"changing tools": "a toolset lists its tools once for each run"}

    def build(self) -> None:
        self.asks, self.ends, injects = self.wants("own_rule"), self.wants("ends"), self.wants("injected")

        async def rename_sheet(file_path: str, old_name: str, new_name: str, tool_context: ToolContext) -> str:
            return self.renamed(tool_context.state["user"], file_path, old_name, new_name)

        real = [rename_sheet if injects and each["name"] == RENAME else Real(self, each) for each in tools_of(self.arm)]
        tools = FoldedToolset(real, **self.settings)
        more: Any = {"output_schema": Sheets} if self.wants("output") else {}
        if self.wants("hooks"):
            more["before_tool_callback"] = lambda tool, args, tool_context: self.hooked.append(tool.name)
        agent = LlmAgent(name="a", model=Model(model="scripted", own=self), tools=[tools], **more)
        if self.wants("nested"):
            outer = Model(model="scripted", own=Script([("transfer_to_agent", {"agent_name": "a"})]))
            agent = LlmAgent(name="outer", model=outer, sub_agents=[agent])
        rules: list[Any] = [ContextFilterPlugin(num_invocations_to_keep=1)] if self.wants("trims") else []
        sessions = SqliteSessionService(str(self.folder / "sessions.db"))
        self.runner = Runner(app=App(name="app", root_agent=agent, plugins=rules), session_service=sessions)

    def _went(self, part: types.Part, **more: Any) -> bool:
        async def talk() -> list[Any]:
            message = types.Content(role="user", parts=[part])
            each = self.runner.run_async(user_id="u", session_id="s-1", new_message=message, **more)
            return [event async for event in each]

        events = asyncio.run(talk())
        texts = [(event.partial, own.text) for event in events if event.content for own in event.content.parts if own.text]
        self.heard += [text for partial, text in texts if partial]
        if self.wants("output"):
            self.output = json.loads(texts[-1][1])
        return bool(asked_in(events))

    def start(self) -> bool:
        return self._began()

    def stream(self) -> bool:
        return self._began(run_config=STREAMS)

    def _began(self, **more: Any) -> bool:
        asyncio.run(self.runner.session_service.create_session(**SESSION, state={"user": INJECTED}))
        return self._went(types.Part(text="go"), **more)

    def again(self) -> bool:
        return self._went(types.Part(text="go on"))

    def answer(self, said: bool | dict[str, Any]) -> bool:
        session: Any = asyncio.run(self.runner.session_service.get_session(**SESSION))
        asked = asked_in(session.events)[-1]
        edited = {"payload": said} if isinstance(said, dict) else {}
        response = {"confirmed": bool(said), **edited}
        own = types.FunctionResponse(id=asked.id, name=asked.name, response=response)
        return self._went(types.Part(function_response=own))

    def change(self, arguments: dict[str, Any]) -> None:
        with sqlite3.connect(self.folder / "sessions.db") as file:
            old, new = json.dumps(self.script[-1][1])[1:-1], json.dumps(arguments)[1:-1]
            for data in (old, old.replace(": ", ":").replace(", ", ",")):
                file.execute("UPDATE events SET event_data = REPLACE(event_data, ?, ?)", (data, new))
