"""Public reports about frameworks and SDKs, re-created with toolfold in place: it fixes the problem, or leaves the behaviour
unchanged. Each test names the report; what the bare framework does is in the report, and in the test where it can be shown."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hosts import missing
from hosts.asking import DELETE, Asking, asking

from toolfold import Approver, Confirm, Engine, Forward

FILE = {"file_path": "q.xlsx"}
RENAME = ("rename_sheet", {**FILE, "old_name": "a", "new_name": "b"})
LIST = ("list_sheets", FILE)
SECOND = (DELETE[0], {**DELETE[1], "sheet_name": "Other"})
ARMS = ["full", "lean"]


@pytest.fixture(params=ARMS)
def arm(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def agent(framework: str, script: list[Any], arm: str, folder: Path, **more: Any) -> Asking:
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    return asking(framework)(script, arm, folder, **more)


# Names that no tool has


@pytest.mark.parametrize(
    ("framework", "name"),
    [
        # openai/openai-agents-python#686, #325: the run ends with a ModelBehaviorError.
        ("openai_agents", "get_US_A PresidentialInformationService"),
        # aliasrobotics/cai#270 (the Agents SDK): an empty name.
        ("openai_agents", ""),
        # google/adk-python#2933, #2050, #1532: a ValueError before any callback.
        ("google_adk", "search_resumes"),
        ("google_adk", ""),
        # google/adk-python#2987: the name of another provider's pseudo tool.
        ("google_adk", "json_tool_call"),
        # langchain-ai/langgraph#1052.
        ("langchain", "search_resumes"),
        ("agent_framework", "search_resumes"),
        ("openai", "search_resumes"),
        ("anthropic", "search_resumes"),
    ],
)
def test_an_invented_name_does_not_end_the_run(framework: str, name: str, arm: str, tmp_path: Path) -> None:
    one = agent(framework, [(name, {}), RENAME], arm, tmp_path)
    assert not one.start() and one.ran == [RENAME] and len(one.read) == 3


@pytest.mark.parametrize("framework", ["openai_agents", "langchain", "openai", "anthropic", "agent_framework"])
def test_a_name_with_a_rest_of_markup(framework: str, arm: str, tmp_path: Path) -> None:
    """openai/openai-agents-python#2232: ``Tool fetch_latest_credit_report" /> not found``."""
    one = agent(framework, [(f'{RENAME[0]}" />', RENAME[1]), RENAME], arm, tmp_path)
    assert not one.start() and set(map(repr, one.ran)) == {repr(RENAME)}


def test_repeated_unknown_names_are_as_in_the_framework(arm: str, tmp_path: Path) -> None:
    """pydantic/pydantic-ai#3597: a second unknown name ended the run, whatever ``retries`` said. Unchanged: the framework
    answers unknown names itself, as often as ``retries`` allows."""
    for retries, ends in ((1, True), (5, False)):
        (folder := tmp_path / str(retries)).mkdir()
        one = agent("pydantic_ai", [("nothing_like_it", {}), ("nothing_like_it", {}), RENAME], arm, folder)
        bare = _bare_pydantic(one, retries)
        outcomes = []
        for run in (one.agent, bare):  # type: ignore[attr-defined]
            run._max_tool_retries = retries
            one.read.clear()
            try:
                run.run_sync("go")
                outcomes.append("ended")
            except Exception as why:
                outcomes.append(type(why).__name__)
        assert outcomes[0] == outcomes[1] and (outcomes[0] != "ended") == ends


def _bare_pydantic(one: Any, retries: int) -> Any:
    from pydantic_ai import Agent, Tool
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def respond(messages: Any, info: Any) -> ModelResponse:
        calls = one.says([own.name for own in info.function_tools], messages[-1])
        return ModelResponse(parts=[ToolCallPart(name, args, id) for id, name, args in calls] or [TextPart("done")])

    run = Tool.from_schema(lambda **k: one.run(RENAME[0], k), RENAME[0], "x", {"type": "object", "properties": {}})
    return Agent(FunctionModel(respond), tools=[run], retries=retries)


# Arguments


@pytest.mark.parametrize("framework", ["pydantic_ai", "langchain", "openai_agents", "google_adk", "agent_framework"])
def test_an_array_as_json_text(framework: str, arm: str, tmp_path: Path) -> None:
    """pydantic/pydantic-ai#5259: some models write an object or an array as JSON text, also after a correct call."""
    written = ("write_cells", {**FILE, "values": '[[1, "a"]]'})
    one = agent(framework, [written, written], arm, tmp_path)
    one.start()
    assert one.ran and all(ran[1]["values"] == [[1, "a"]] for ran in one.ran), one.read


@pytest.mark.parametrize("framework", ["agent_framework", "pydantic_ai", "openai_agents"])
def test_null_for_a_parameter_that_is_not_needed(framework: str, tmp_path: Path) -> None:
    """microsoft/autogen#4997: ``"namespace": null`` was a validation error."""
    one = agent(framework, [("list_sheets", {**FILE, "limit": None})], "full", tmp_path)
    one.start()
    assert one.ran == [LIST]


def test_a_whole_number_that_the_api_sends_as_a_float(tmp_path: Path) -> None:
    """google/adk-python#3592: Gemini's API sends 10000000000000001 as 1e16. Unchanged: the digits are lost before the
    framework. An integer that the API does send as one keeps every digit."""
    calls = [("list_sheets", {**FILE, "limit": limit}) for limit in (1e16, 10**16 + 1)]
    one = agent("google_adk", calls, "full", tmp_path)
    one.start()
    assert one.ran == calls and [type(ran[1]["limit"]) for ran in one.ran] == [float, int]


@pytest.mark.parametrize("arguments", ['{"query": "a', 'query = """a"""', "null", "[]", '"{}"', '{"{"a":1}', ""])
def test_arguments_that_are_not_a_json_object(arguments: str) -> None:
    """run-llama/llama_index#11921, openai/openai-agents-js#887, mozilla-ai/clawbolt#169: malformed arguments ended the loop;
    NousResearch/hermes-agent#1796: the tool ran with ``{}`` instead. The model gets the error, the other call runs."""
    pytest.importorskip("openai")
    ran, sent = _chat([("get", arguments, "c1"), ("get", '{"query": "b"}', "c2")])
    assert ran == [{"query": "b"}]
    answers = {message["tool_call_id"]: message["content"] for message in sent[1] if message["role"] == "tool"}
    assert answers["c2"] == "done" and answers["c1"] != "done"


def test_arguments_that_are_missing() -> None:
    """pydantic/pydantic-ai#3571: OpenRouter sends null arguments for a tool whose parameters are all optional."""
    pytest.importorskip("openai")
    ran, _ = _chat([("list", None, "c1")])
    assert ran == [{}]


def test_a_call_that_the_provider_sent_twice() -> None:
    """agno-agi/agno#2640: a proxy repeats a call with its id, and the tool runs twice. Unchanged: nothing distinguishes this
    from a model that numbers the calls of each message anew."""
    pytest.importorskip("openai")
    ran, _ = _chat([("get", '{"query": "b"}', "c1")] * 2)
    assert len(ran) == 2


def _chat(calls: list[tuple[str, Any, str]]) -> tuple[list[dict[str, Any]], list[Any]]:
    """What ran, and the messages of each request, over the loop of the OpenAI SDK."""
    import httpx
    import openai

    from toolfold.openai import chat

    sent: list[Any] = []
    ran: list[dict[str, Any]] = []

    def serve(request: Any) -> Any:
        sent.append(json.loads(request.content)["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": "ok"}
        if len(sent) == 1:
            written = [{"id": id, "type": "function", "function": {"name": n, "arguments": a}} for n, a, id in calls]
            message = {"role": "assistant", "tool_calls": written}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        fixed = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
        return httpx.Response(200, json={**fixed, "choices": [choice]})

    query = {"query": {"type": "string"}}
    get = {"name": "get", "description": "Gets.", "input_schema": {"type": "object", "properties": query, "required": ["query"]}}
    listing = {"name": "list", "description": "Lists.", "input_schema": {"type": "object", "properties": query}}

    def run(name: str, arguments: dict[str, Any]) -> str:
        ran.append(arguments)
        return "done"

    client = openai.OpenAI(api_key="x", base_url="http://127.0.0.1/v1", http_client=httpx.Client(transport=httpx.MockTransport(serve)))
    chat(client, Engine([get, listing], arm="full").conversation("openai-chat", "gpt-5.4"), [{"role": "user", "content": "go"}], run)
    return ran, sent


# Approvals


def test_the_model_reads_what_a_person_edited(arm: str, tmp_path: Path) -> None:
    """langchain-ai/langchain#32988: the model did not learn of an edit."""
    one = agent("langchain", [DELETE], arm, tmp_path)
    one.start()
    one.answer(SECOND[1])
    assert one.ran == [SECOND] and "A person changed the arguments" in one.read[-1] and "Other" in one.read[-1]


def test_the_original_call_after_an_edit_is_asked_about_again(arm: str, tmp_path: Path) -> None:
    """langchain-ai/langchain#33787: after an edit, the model repeats its original call."""
    one = agent("langchain", [DELETE, DELETE], arm, tmp_path)
    one.start()
    assert one.answer(SECOND[1]), "the original call ran without a question"
    assert one.ran == [SECOND]


@pytest.mark.parametrize(
    ("name", "arguments", "ran"),
    [
        ("rename_file", {"source": "a.xlsx", "destination": "b.xlsx"}, False),
        ("rename_sheet", RENAME[1], True),
        ("no_such_tool", {}, False),
    ],
)
def test_an_edit_to_another_tool_is_checked(name: str, arguments: Any, ran: bool, arm: str, tmp_path: Path) -> None:
    """langchain-ai/langchain#40166: an edit that names another tool bypasses the rules of that tool."""
    from langgraph.types import Command

    one: Any = agent("langchain", [DELETE], arm, tmp_path)
    one.start()
    action = {"name": name, "args": arguments}
    one._went(Command(resume={"decisions": [{"type": "edit", "edited_action": action}]}))
    assert one.ran == ([(name, arguments)] if ran else [])


@pytest.mark.parametrize("first", [True, False])
def test_two_questions_of_one_message_have_their_own_answers(first: bool, arm: str, tmp_path: Path) -> None:
    """langchain-ai/langgraph#6533, #6624, #6626: parallel interrupts had one id, and answers reached the wrong tool."""
    from langgraph.types import Command

    one: Any = agent("langchain", [[DELETE, SECOND]], arm, tmp_path)
    one.start()
    asked = one.asked
    said = {each.id: (each.value["arguments"] == DELETE[1]) is first for each in asked}
    while one._went(Command(resume=said)):
        said = {each.id: (each.value["arguments"] == DELETE[1]) is first for each in one.asked}
    assert one.ran == [DELETE if first else SECOND]


def test_two_questions_with_one_id(arm: str, tmp_path: Path) -> None:
    """microsoft/agent-framework#6788: a local server gives both calls of a message the tool's name as their id."""
    one = agent("agent_framework", [], arm, tmp_path)
    one.script, one.one_id = [[DELETE, SECOND]], True
    assert one.start()
    for _ in range(3):
        if not one.answer(True):
            break
    assert len(one.ran) == len({repr(ran) for ran in one.ran}) and all(ran in (DELETE, SECOND) for ran in one.ran)


# Many tools


@pytest.mark.parametrize("tools", [129, 158, 383])
def test_more_tools_than_the_api_accepts(tools: int) -> None:
    """julep-ai/julep#330, 0x4m4/hexstrike-ai#29, zed-industries/zed#32946: ``array too long``, more than 128 tools."""
    many = [{**tool["function"], "name": f"tool_{at}"} for at, tool in enumerate(_excel() * 8)][:tools]
    array = Engine(many).conversation("openai-chat", "gpt-5.4").tools()
    assert len(array) <= 128
    outcome = Engine(many).conversation("openai-chat", "gpt-5.4").call("tool_0", {})
    assert outcome.target == "tool_0"


def _excel() -> list[dict[str, Any]]:
    return list(Engine("excel").conversation("openai-chat", arm="full").tools())


# MCP


def _mcp(use: Any, **settings: Any) -> tuple[Any, list[Any]]:
    pytest.importorskip("mcp")
    from mcp import Client, types
    from mcp.server import Server

    from toolfold.mcp import FoldedSession

    calls: list[Any] = []
    schema = {
        "type": "object",
        "properties": {"content": {"type": "string"}, "values": {"type": "array", "items": {"type": "integer"}}},
    }

    async def listed(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="lint", description="Checks.", input_schema=schema)])

    async def called(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        calls.append(params.arguments)
        return types.CallToolResult(content=[types.TextContent(type="text", text="done")])

    async def talk() -> Any:
        async with Client(Server("s", on_list_tools=listed, on_call_tool=called)) as client:
            return await use(FoldedSession(client, arm="full", **settings))

    return asyncio.run(talk()), calls


@pytest.mark.parametrize(
    ("arguments", "reached"),
    [
        # PrefectHQ/fastmcp#4784 (#553): a list as JSON text was a validation error.
        ({"values": "[1, 2, 3]"}, {"values": [1, 2, 3]}),
        # PrefectHQ/fastmcp#3931: text that looks like JSON was made an object. Unchanged.
        ({"content": '{"a": 1}'}, {"content": '{"a": 1}'}),
        # PrefectHQ/fastmcp#3265: an empty text for a list that is not needed. The model gets the error.
        ({"content": "x", "values": ""}, None),
    ],
)
def test_arguments_for_a_server(arguments: Any, reached: Any) -> None:
    result, calls = _mcp(lambda session: session.call_tool("lint", arguments))
    assert calls == ([] if reached is None else [reached]) and result.is_error == (reached is None)


def test_an_approval_is_for_its_own_call_only() -> None:
    """langchain-ai/langgraph#6533 over MCP: two approvals at once, answered in the other order."""
    seen: list[str] = []

    async def ask(asked: Confirm) -> bool:
        seen.append(asked.arguments["content"])
        await asyncio.sleep(0.05 if asked.arguments["content"] == "a" else 0)
        return bool(asked.arguments["content"] == "a")

    async def use(session: Any) -> Any:
        return await asyncio.gather(*(session.call_tool("lint", {"content": one}) for one in "ab"))

    rules = '[[rule]]\ntool = "*"\ndecide = "ask"\n'
    results, calls = _mcp(use, ask=ask, policy=rules, approvals=Approver())
    assert calls == [{"content": "a"}] and sorted(seen) == ["a", "b"]
    assert [result.is_error for result in results] == [False, True]


def test_a_forward_names_the_tool_of_the_report() -> None:
    """The call that a report describes is the one that runs: nothing above passes because a call was answered."""
    outcome = Engine(_excel(), arm="full").conversation().call(*RENAME)
    assert isinstance(outcome, Forward) and (outcome.target, outcome.arguments) == RENAME
