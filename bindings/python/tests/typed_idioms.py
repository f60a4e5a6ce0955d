"""How the documentation pages of the SDKs and frameworks write an agent, with toolfold in place. ``test_idioms.py`` checks the
types with mypy --strict and pyright; nothing here is run.

Every ``type: ignore`` below ``WRONG`` is a wrong setting that both checkers must find.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import anthropic
import openai
from agent_framework import Agent as FrameworkAgent
from agent_framework import BaseChatClient
from agents import Agent, ModelSettings, RunContextWrapper, Runner, function_tool
from anthropic.types import MessageParam, ToolResultBlockParam
from anthropic.types.beta import BetaMessageParam
from google.adk.agents import LlmAgent
from google.adk.runners import InMemoryRunner
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, HumanInTheLoopMiddleware
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from mcp import Client, ClientSession, StdioServerParameters, stdio_client, types
from openai.types.chat import ChatCompletionMessageParam, ChatCompletionToolMessageParam
from openai.types.responses import ResponseInputParam
from pydantic import BaseModel
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests, DeferredToolResults, RunContext
from typing_extensions import assert_type

import toolfold
import toolfold.agent_framework
import toolfold.anthropic
import toolfold.google_adk
import toolfold.langchain
import toolfold.mcp
import toolfold.openai
import toolfold.openai_agents
import toolfold.pydantic_ai
from toolfold import Confirm, Conversation, Engine


def get_weather(city: str) -> str:
    """Returns the weather of a city."""
    return f"sunny in {city}"


def run(name: str, arguments: dict[str, Any]) -> str:
    return get_weather(**arguments)


# 1. platform.openai.com/docs/guides/function-calling (Chat Completions)
def chat_completions(conversation: Conversation) -> str | None:
    client = openai.OpenAI()
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "What's the weather like in Paris?"}]
    completion = client.chat.completions.create(model="gpt-5.4", messages=messages, tools=conversation.tools())
    message = completion.choices[0].message
    turn = conversation.turn(message)
    for call in turn.runnable:
        turn.finish(call.id, get_weather(**call.arguments))
    messages.append({"role": "assistant", "content": message.content})
    messages.extend(turn.messages())
    answer: ChatCompletionToolMessageParam = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}
    messages.append(answer)
    return client.chat.completions.create(model="gpt-5.4", messages=messages).choices[0].message.content


# 2. platform.openai.com/docs/guides/function-calling (Responses)
def responses(conversation: Conversation) -> str:
    client = openai.OpenAI()
    input_list: ResponseInputParam = [{"role": "user", "content": "What is my horoscope? I am an Aquarius."}]
    response = client.responses.create(model="gpt-5.4", tools=conversation.tools(), input=input_list)
    turn = conversation.turn(response.output)
    for call in turn.runnable:
        turn.finish(call.id, get_weather(**call.arguments))
    input_list += turn.messages()
    return client.responses.create(model="gpt-5.4", input=input_list, tools=conversation.tools()).output_text


# 3. platform.openai.com/docs/guides/streaming-responses
def streamed_completions(conversation: Conversation) -> None:
    client = openai.OpenAI()
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Say 'double bubble bath'."}]
    with client.chat.completions.stream(model="gpt-5.4", messages=messages, tools=conversation.tools()) as stream:
        for event in stream:
            if event.type == "content.delta":
                print(event.delta, flush=True, end="")
        turn = conversation.turn(stream.get_final_completion().choices[0].message)
    assert_type(turn.runnable, tuple[toolfold.Forward, ...])


# 4. The loops of toolfold with the asynchronous client, as github.com/openai/openai-python shows it
async def loops(conversation: Conversation, approver: toolfold.Approver) -> None:
    client = openai.AsyncOpenAI()
    messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": "Say this is a test"}]

    async def ask(asked: Confirm) -> bool | dict[str, str]:
        return {"file_path": "copy.xlsx"} if asked.target == "write_file" else asked.target != "delete_file"

    result = await toolfold.openai.achat(client, conversation, messages, run, ask=ask, approver=approver, temperature=0)
    assert_type(result.text, str)
    assert_type(result.usage.input_tokens, int)
    assert_type(result.waiting, tuple[Confirm, ...])


# 5. docs.anthropic.com/en/docs/agents-and-tools/tool-use
def messages_api(conversation: Conversation) -> None:
    client = anthropic.Anthropic()
    messages: list[MessageParam] = [{"role": "user", "content": "What is the weather like in San Francisco?"}]
    response = client.messages.create(
        model="claude-opus-5", max_tokens=1024, tools=conversation.tools(), messages=messages
    )
    while response.stop_reason == "tool_use":
        turn = conversation.turn(response)
        for call in turn.runnable:
            turn.finish(call.id, get_weather(**call.arguments))
        messages.append({"role": "assistant", "content": response.content})
        messages.extend(turn.messages())
        more: list[ToolResultBlockParam] = []
        messages.append({"role": "user", "content": more})
        response = client.messages.create(
            model="claude-opus-5", max_tokens=1024, tools=conversation.tools(), messages=messages
        )


# 6. docs.anthropic.com/en/docs/agents-and-tools/tool-use (the tool runner)
def tool_runner(conversation: Conversation) -> None:
    client = anthropic.Anthropic()
    messages: list[BetaMessageParam] = [{"role": "user", "content": "What's the weather like in Paris?"}]
    runner = client.beta.messages.tool_runner(
        model="claude-opus-5",
        max_tokens=1024,
        tools=toolfold.anthropic.runner_tools(conversation, run),
        messages=messages,
    )
    for message in runner:
        print(message.content)
    print(runner.until_done().stop_reason)


@dataclass
class Deps:
    user: str


class City(BaseModel):
    name: str
    country: str


# 7. ai.pydantic.dev: dependencies, a tool, a structured output, and deferred tools
def pydantic_ai_agent() -> None:
    agent = PydanticAgent(
        "openai:gpt-5.4",
        deps_type=Deps,
        output_type=City,
        instructions="Extract the city.",
        capabilities=[toolfold.pydantic_ai.Toolfold(arm="lean", policy="policy.toml")],
    )

    @agent.tool
    def user_name(ctx: RunContext[Deps]) -> str:
        return ctx.deps.user

    @agent.tool_plain(requires_approval=True)
    def delete_file(path: str) -> str:
        return path

    result = agent.run_sync("Where were the olympics held in 2012?", deps=Deps("Ann"))
    assert_type(result.output, City)


# 8. ai.pydantic.dev/deferred-tools
async def pydantic_ai_deferred() -> None:
    own = toolfold.pydantic_ai.Settings(arm="native", wire="anthropic", model="claude-opus-5")
    agent = PydanticAgent(
        "anthropic:claude-opus-5",
        output_type=[str, DeferredToolRequests],
        tools=[get_weather],
        capabilities=[toolfold.pydantic_ai.Toolfold(own)],
    )
    result = await agent.run("Delete it.")
    if isinstance(result.output, DeferredToolRequests):
        answers = DeferredToolResults(approvals={one.tool_call_id: True for one in result.output.approvals})
        result = await agent.run(message_history=result.all_messages(), deferred_tool_results=answers)
    async with agent.run_stream("Go on.") as response:
        async for text in response.stream_text():
            assert_type(text, str)


# 9. docs.langchain.com/oss/python/langchain/human-in-the-loop
def langchain_agent() -> None:
    @tool
    def read_email(email_id: str) -> str:
        """Reads an email."""
        return email_id

    fold = toolfold.langchain.Toolfold(arm="index", policy=["policy.toml"], approvals="approvals.db")
    rules: HumanInTheLoopMiddleware[Any, Any, Any] = HumanInTheLoopMiddleware(interrupt_on={"read_email": True})
    middleware: list[AgentMiddleware[Any, Any, Any]] = [rules, fold]
    agent = create_agent("openai:gpt-5.4", tools=[read_email], middleware=middleware, checkpointer=InMemorySaver())
    alone = create_agent(model="openai:gpt-5.4", tools=[read_email, get_weather], middleware=[fold])
    result = alone.invoke({"messages": [{"role": "user", "content": "Delete old records"}]})
    print(result["messages"][-1].content)
    agent.invoke(Command(resume={"decisions": [{"type": "approve"}]}), {"configurable": {"thread_id": "some_id"}})


# 10. openai.github.io/openai-agents-python: tools, handoffs, agents as tools, streaming
async def openai_agents_sdk() -> None:
    @function_tool
    async def fetch_weather(ctx: RunContextWrapper[Deps], city: str) -> str:
        return f"{ctx.context.user}: {city}"

    own = toolfold.openai_agents.folding(arm="seed", policy="policy.toml")
    spanish: Agent[Deps] = Agent(name="Spanish agent", instructions="You only speak Spanish.", handoff_description="es")
    weather = toolfold.openai_agents.FoldedAgent(
        name="Weather agent",
        instructions="You are a helpful agent.",
        model="gpt-5.4",
        model_settings=ModelSettings(parallel_tool_calls=True),
        tools=[fetch_weather, spanish.as_tool(tool_name="translate", tool_description="Translates.")],
        handoffs=[spanish],
        folding=own,
    )
    triage: Agent[Deps] = Agent(name="Triage", tools=[weather.as_tool("weather", "Answers about the weather.")])
    result = await Runner.run(weather, input="Hola, ¿cómo estás?", context=Deps("Ann"))
    print(result.final_output, result.interruptions)
    streamed = Runner.run_streamed(triage, "Please tell me 5 jokes.")
    async for event in streamed.stream_events():
        print(event.type)


# 11. google.github.io/adk-docs/tools
async def adk() -> None:
    tools = toolfold.google_adk.FoldedToolset([get_weather], arm="stable", policy="policy.toml")
    root_agent = LlmAgent(name="weather_agent", model="gemini-2.5-flash", instruction="Answer.", tools=[tools, get_weather])
    runner = InMemoryRunner(agent=root_agent, app_name="weather")
    print(await runner.session_service.create_session(app_name="weather", user_id="u"))


# 12. learn.microsoft.com/agent-framework: an agent of a chat client
async def agent_framework(client: BaseChatClient[Any]) -> None:
    folded = toolfold.agent_framework.fold([get_weather], arm="lean", policy="policy.toml")
    agent = FrameworkAgent(client=client, instructions="Answer.", tools=folded.tools, middleware=folded.middleware)
    session = agent.create_session()
    result = await agent.run("What is the weather like in Amsterdam?", session=session)
    print(result.text)
    async for update in agent.run("And in Seattle?", session=session, stream=True):
        print(update.text, end="", flush=True)


# 13. github.com/modelcontextprotocol/python-sdk: a client, and a session of its own
async def mcp_session() -> AsyncIterator[types.Tool]:
    async def report(progress: float, total: float | None, message: str | None) -> None:
        print(progress, total, message)

    async def ask(asked: Confirm) -> bool:
        return False

    async with Client("http://localhost:8000/mcp") as client:
        folded = toolfold.mcp.FoldedSession(client, arm="lean", ask=ask)
        for each in (await folded.list_tools()).tools:
            yield each
        result = await folded.call_tool("add", {"a": 1, "b": 2}, progress_callback=report, read_timeout_seconds=9)
        assert_type(result, types.CallToolResult)
    async with stdio_client(StdioServerParameters(command="python")) as (read, write), ClientSession(read, write) as session:
        await toolfold.mcp.FoldedSession(session, toolfold.mcp.Settings(arm="index")).call_tool("add", meta={"progress_token": 1})


def wrong_settings() -> None:
    """WRONG"""
    toolfold.langchain.Toolfold(arm="leen")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    toolfold.agent_framework.fold([], arm="native")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    toolfold.google_adk.FoldedToolset([], arm="append")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    toolfold.mcp.Settings(arm="append")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    toolfold.openai_agents.folding(wire="openai")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    toolfold.agent_framework.fold([], arm="append")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    toolfold.pydantic_ai.Toolfold(polices="policy.toml")  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
    toolfold.langchain.Settings(policy=5)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    toolfold.mcp.Settings(wire="anthropic")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    toolfold.langchain.Toolfold(toolfold.mcp.Settings())  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
    Engine.from_functions([get_weather], arms="lean")  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
