"""Arms ``native`` and ``append`` over the real clients of the frameworks: the requests that reach the providers."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hosts import missing
from hosts.responses import CHART, Messages, Responses, called, searched

NATIVE = ["langchain", "openai_agents", "pydantic_ai"]
APPEND = ["langchain", "openai_agents", "pydantic_ai"]
BOLD = {"file_path": "a.xlsx", "cell_range": "A1"}


def run(framework: str, served: Responses, arm: str) -> list[Any]:
    if lacking := missing(framework):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    from hosts import responses

    ran: list[Any] = []
    getattr(responses, framework)(served, arm, ran)
    return ran


def kinds(body: dict[str, Any]) -> list[str]:
    return [item.get("type", "message") for item in body["input"]]


@pytest.mark.parametrize("framework", NATIVE)
def test_the_providers_search_loads_tools(framework: str) -> None:
    served = Responses(searched())
    ran = run(framework, served, "native")
    assert ran == [("create_excel_chart", CHART)], "a definition that the search loaded was read"
    first, second = served.bodies
    functions = {tool["name"]: tool.get("defer_loading", False) for tool in first["tools"] if tool["type"] == "function"}
    assert functions["create_excel_chart"] is True and functions["read_excel"] is False and len(functions) > 40
    assert [tool for tool in first["tools"] if tool["type"] == "tool_search"] == [{"type": "tool_search"}]
    assert first["tools"] == second["tools"]
    sent = second["input"][1:]
    assert [item["type"] for item in sent] == [*(item["type"] for item in searched()), "function_call_output"]
    assert "was not run" not in json.dumps(sent) and sent[2].get("namespace") == "create_excel_chart"


@pytest.mark.parametrize("framework", APPEND)
def test_opened_tools_are_appended_once(framework: str) -> None:
    served = Responses([called("c0", "expand_tools", {"tools": ["format_cells"]})], [called("c1", "format_cells", BOLD)])
    assert run(framework, served, "append") == [("format_cells", BOLD)]
    first, second, third = served.bodies
    assert first["tools"] == second["tools"] == third["tools"]
    assert "format_cells" not in [tool.get("name") for tool in first["tools"]]
    assert kinds(second) == ["message", "function_call", "function_call_output", "additional_tools"]
    assert [tool["name"] for tool in second["input"][-1]["tools"]] == ["format_cells"]
    assert third["input"][: len(second["input"])] == second["input"] and kinds(third).count("additional_tools") == 1


@pytest.mark.skipif(sys.version_info < (3, 11), reason="pydantic-ai 2.54 cannot write a message with anthropic 2.12")
def test_pydantic_ai_on_anthropic() -> None:
    """Its client refers to deferred tools of the array, in the answer of the search and in the added message."""
    if lacking := [*missing("pydantic_ai"), *missing("anthropic")]:
        pytest.skip(f"{', '.join(lacking)} is not installed")
    from hosts.responses import pydantic_ai_on_anthropic

    def use(id: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"type": "tool_use", "id": id, "name": name, "input": arguments}

    name = "create_excel_chart"
    reference = {"type": "tool_reference", "tool_name": name}
    found = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_bm25", "input": {"query": "chart"}},
        {
            "type": "tool_search_tool_result",
            "tool_use_id": "srvtoolu_1",
            "content": {"type": "tool_search_tool_search_result", "tool_references": [reference]},
        },
    ]
    cases = [
        ("native", "claude-sonnet-4-6", [[*found, use("c0", name, CHART)]]),
        ("append", "claude-opus-5", [[use("c0", "expand_tools", {"tools": [name]})], [use("c1", name, CHART)]]),
    ]
    for arm, model, answers in cases:
        served, ran = Messages(*answers), list[Any]()
        pydantic_ai_on_anthropic(served, arm, ran, model)
        assert ran == [(name, CHART)] and len({json.dumps(body["tools"]) for body in served.bodies}) == 1, arm
        assert [tool["name"] for tool in served.bodies[0]["tools"] if tool["name"] == name and tool["defer_loading"]]
    added = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": name}}
    assert served.bodies[1]["messages"][-1] == {"role": "system", "content": [added]}
