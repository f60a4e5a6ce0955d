"""Times of the Python package: the import, an engine, a call, and a turn under three frameworks; also the memory of an engine,
and how long the GIL is held.

    pip install -r bindings/python/tests/requirements.txt && python benches/adapters.py

The tools are the built-in 49. The model is a script that calls one of them on every turn, so only framework and adapter run. Bare
and folded conversations alternate, and each turn counts with the fastest of its times: on a processor shared with others, these
vary less than the times of whole conversations. LangChain runs each hook of an asynchronous middleware in another thread, and
pydantic-ai copies its context for each capability, so hooks that do nothing are also measured there. Build the module for release
first; a debug build is ten times slower. Times never fail a test.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path
from typing import Any

import toolfold

warnings.simplefilter("ignore")
SPECS = [tool["function"] for tool in json.loads((Path(__file__).parents[1] / "profiles/excel/tools.json").read_text())]
ARGUMENTS = {"file_path": "a.xlsx"}
#: Conversations of each kind, and turns in each.
ROUNDS, TURNS = 120, 20
Talk = Callable[[], object]
#: The CPU nanoseconds of the process at each request of the conversation that runs.
REQUESTS: list[int] = []
#: The kinds of agents: bare, with hooks that do nothing, or with toolfold.
BARE, IDLE, FOLDED = "bare", "idle", "folded"


def note_request() -> None:
    """Each scripted model calls this first."""
    REQUESTS.append(time.process_time_ns())


def pydantic_ai(how: str) -> Talk:
    from pydantic_ai import Agent, Tool
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel
    from pydantic_ai.toolsets import WrapperToolset
    from pydantic_ai.usage import UsageLimits

    from toolfold.pydantic_ai import Toolfold

    def say(messages: list[Any], info: Any) -> ModelResponse:
        note_request()
        turn = len(messages) // 2
        if turn >= TURNS:
            return ModelResponse(parts=[TextPart("ok")])
        return ModelResponse(parts=[ToolCallPart("read_excel", json.dumps(ARGUMENTS), f"c{turn}")])

    def tool(spec: dict[str, Any]) -> Tool:
        async def run(**_: Any) -> str:
            return "done"

        return Tool.from_schema(run, spec["name"], spec["description"], spec["parameters"])

    class Idle(AbstractCapability[Any]):
        def get_wrapper_toolset(self, toolset: Any) -> Any:
            return WrapperToolset(toolset)

    made: dict[str, list[Any]] = {IDLE: [Idle()], FOLDED: [Toolfold(arm="lean", profile="excel")]}
    agent = Agent(FunctionModel(say), tools=[tool(spec) for spec in SPECS], capabilities=made.get(how, []))
    return lambda: asyncio.run(agent.run("Go.", usage_limits=UsageLimits(request_limit=None)))


def langchain(how: str) -> Talk:
    from langchain.agents import create_agent
    from langchain.agents.middleware import AgentMiddleware
    from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
    from langchain_core.messages import AIMessage
    from langchain_core.tools import StructuredTool
    from langchain_core.utils.function_calling import convert_to_openai_tool

    from toolfold.langchain import Toolfold

    class Model(GenericFakeChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            for tool in tools:  # as every chat model of LangChain does
                convert_to_openai_tool(tool)
            return self

        def _generate(self, *arguments: Any, **settings: Any) -> Any:
            note_request()
            return super()._generate(*arguments, **settings)

    def tool(spec: dict[str, Any]) -> StructuredTool:
        async def run(**_: Any) -> str:
            return "done"

        return StructuredTool(
            name=spec["name"], description=spec["description"], args_schema=spec["parameters"], coroutine=run
        )

    class Idle(AgentMiddleware[Any, Any]):
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            return await handler(request)

        async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
            return await handler(request)

    made: dict[str, list[Any]] = {IDLE: [Idle()], FOLDED: [Toolfold(arm="lean", profile="excel")]}
    tools, middleware = [tool(spec) for spec in SPECS], made.get(how, [])

    def talk() -> None:
        call = {"name": "read_excel", "args": ARGUMENTS}
        turns = [AIMessage("", tool_calls=[{**call, "id": f"c{turn}"}]) for turn in range(TURNS)]
        model = Model(messages=iter([*turns, AIMessage("ok")]))
        agent = create_agent(model, tools=tools, middleware=middleware)
        config: Any = {"recursion_limit": 10 * TURNS, "configurable": {"thread_id": "t"}}
        go: Any = {"messages": [("user", "Go.")]}
        asyncio.run(agent.ainvoke(go, config))

    return talk


def openai_agents(how: str) -> Talk:
    from agents import Agent, FunctionTool, RunConfig, Runner
    from agents.testing import ScriptedModel
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from toolfold.openai_agents import FoldedAgent, folding

    text = ResponseOutputText(text="ok", type="output_text", annotations=[])
    last = ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=[text])

    class Model(ScriptedModel):
        async def get_response(self, *arguments: Any, **settings: Any) -> Any:
            note_request()
            return await super().get_response(*arguments, **settings)

    def tool(spec: dict[str, Any]) -> FunctionTool:
        async def run(context: Any, arguments: str) -> str:
            return "done"

        return FunctionTool(spec["name"], spec["description"], spec["parameters"], run, strict_json_schema=False)

    def call(turn: int) -> ResponseFunctionToolCall:
        arguments = json.dumps(ARGUMENTS)
        return ResponseFunctionToolCall(
            id=f"f{turn}", call_id=f"c{turn}", name="read_excel", arguments=arguments, type="function_call"
        )

    tools, config = [tool(spec) for spec in SPECS], RunConfig(tracing_disabled=True)
    own = folding(arm="lean", profile="excel")

    def talk() -> None:
        model = Model([*([call(turn)] for turn in range(TURNS)), [last]])
        settings: dict[str, Any] = {"name": "a", "tools": tools, "model": model}
        agent: Any = FoldedAgent(**settings, folding=own) if how == FOLDED else Agent(**settings)
        asyncio.run(Runner.run(agent, "Go.", run_config=config, max_turns=2 * TURNS))

    return talk


def timed(work: Callable[[], Any]) -> float:
    """Returns the CPU milliseconds of one call: nothing here waits, and other processes do not count."""
    start = time.process_time_ns()
    work()
    return (time.process_time_ns() - start) / 1e6


def parts(talk: Talk) -> list[int]:
    """Returns the CPU nanoseconds from the start of a conversation to its first request, from each request to the next, and from
    the last to the end."""
    REQUESTS.clear()
    start = time.process_time_ns()
    talk()
    times = [start, *REQUESTS, time.process_time_ns()]
    if len(times) != TURNS + 3:
        raise RuntimeError(f"{len(REQUESTS)} requests instead of {TURNS + 1}")
    return [after - before for before, after in pairwise(times)]


def turn(make: Callable[[str], Talk], base: str) -> tuple[float, float]:
    """Returns the CPU milliseconds of a turn on that base, and those that toolfold adds. Each part of a conversation counts with
    the minimum of its times: a few milliseconds pass without interruption where a whole conversation does not."""
    plain, folded = make(base), make(FOLDED)
    for _ in range(3):
        plain(), folded()
    gc.collect()
    gc.disable()
    played = [(parts(plain), parts(folded)) for _ in range(ROUNDS)]
    gc.enable()
    before, after = (sum(map(min, zip(*kind))) / TURNS / 1e6 for kind in zip(*played))
    return before, after - before


def importing() -> float:
    """Returns the CPU milliseconds that ``import toolfold`` adds to a process that has imported json, as most have. The first run
    writes the byte code that an installed package has."""
    code = "import json, typing, collections.abc, time; t = time.process_time_ns(); import toolfold; print(time.process_time_ns() - t)"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", code]
    runs = [int(subprocess.run(command, capture_output=True, check=True, env=env).stdout) for _ in range(22)]
    return statistics.median(runs[1:]) / 1e6


def calls() -> float:
    """Returns the microseconds of one checked call, with new ids and arguments each time: the fastest of 200 batches, since a
    batch is short enough to run without interruption on a busy machine."""
    conversation = toolfold.Engine(SPECS, profile="excel", arm="lean").conversation()
    fastest = float("inf")
    for batch in range(200):
        many = [(f'{{"file_path": "{batch}-{at}.xlsx"}}', f"c{batch}-{at}") for at in range(20)]
        start = time.perf_counter_ns()
        for one in many:
            conversation.call("read_excel", *one)
        fastest = min(fastest, (time.perf_counter_ns() - start) / len(many) / 1e3)
    return fastest


def memory(text: str) -> float:
    """Returns the kilobytes of an engine: the growth of the process by 200 engines, after the first ones. Linux only."""

    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    engines = [toolfold.Engine(text) for _ in range(20)]
    gc.collect()
    before = resident()
    engines += [toolfold.Engine(text) for _ in range(200)]
    return (resident() - before) / 200 / 1e3


def held(work: Callable[[], object]) -> float:
    """Returns the milliseconds for which another thread had to wait at most: the least of five runs. On a busy machine that
    includes the wait for a core."""

    def once() -> float:
        gaps, ended, began = list[float](), threading.Event(), threading.Event()

        def tick() -> None:
            last = time.perf_counter()
            while not ended.is_set():
                time.sleep(0.0005)
                gaps.append(time.perf_counter() - last)
                last = time.perf_counter()
                began.set()

        ticking = threading.Thread(target=tick)
        ticking.start()
        began.wait()
        work()
        ended.set()
        ticking.join()
        return max(gaps) * 1e3

    return min(once() for _ in range(5))


def play(talk: Talk, number: int) -> None:
    """Plays two conversations, which fill the caches, and then that number without collecting garbage."""
    talk(), talk()
    gc.collect()
    gc.disable()
    for _ in range(number):
        talk()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    packages = {"pydantic-ai": pydantic_ai, "langchain": langchain, "openai-agents": openai_agents}
    parser.add_argument("--only", choices=packages, help="one framework")
    more = "only play that many conversations of kind bare, idle or folded, for a profiler; needs --only"
    parser.add_argument("--play", nargs=2, metavar=("KIND", "NUMBER"), help=more)
    given = parser.parse_args()
    only = given.only
    if given.play:
        kind, number = given.play
        kinds = (BARE, FOLDED) if only == "openai-agents" else (BARE, IDLE, FOLDED)
        if only is None or kind not in kinds or not number.isdecimal():
            parser.error(f"--play needs --only, a kind ({', '.join(kinds)}), and a number")
        play(packages[only](kind), int(number))
        return
    if only is None:
        text = json.dumps(SPECS)
        engine = statistics.median(timed(lambda: toolfold.Engine(text, profile="excel", arm="lean")) for _ in range(21))
        derived = statistics.median(timed(lambda: toolfold.Engine(text)) for _ in range(21))
        print(f"import toolfold          {importing():8.2f} ms")
        print(f"Engine, 49 tools         {engine:8.2f} ms with a profile, {derived:.2f} ms deriving one and choosing an arm")
        print(f"Conversation.call        {calls():8.2f} us")
        if Path("/proc/self/statm").exists():
            print(f"Engine, 49 tools         {memory(text):8.0f} kB deriving a profile")
        many = [{**SPECS[at % len(SPECS)], "name": f"tool_{at}"} for at in range(2000)]
        large = toolfold.Engine(many)
        print(f"the GIL, 2,000 tools     {held(lambda: toolfold.Engine(many)):8.2f} ms at most for Engine(list of dicts),", end=" ")
        print(f"{held(lambda: large.conversation(arm='full').tools()):.2f} ms for tools()")
    for package, make in packages.items():
        if only not in (None, package):
            continue
        try:
            name = f"{package} {version('pydantic-ai-slim' if make is pydantic_ai else package)}"
        except PackageNotFoundError:
            print(f"skipped: {package} is not installed")
            continue
        for base in (BARE,) if make is openai_agents else (BARE, IDLE):
            before, added = turn(make, base)
            over = "a hook that does nothing" if base == IDLE else "the bare framework"
            print(f"{name:24} {added:+8.3f} ms a turn over {over} ({before:.3f} ms)")


if __name__ == "__main__":
    main()
