"""Bedrock Converse: botocore's service model accepts every request built from toolfold's parts."""

from __future__ import annotations

import re
from typing import Any

import pytest
import toolfold
from workbook import TOOLS

pytest.importorskip("botocore")

import botocore.session  # noqa: E402
from botocore.model import Shape  # noqa: E402
from botocore.validate import ParamValidator  # noqa: E402

WIRE = "bedrock-converse"
ARMS = ("full", "seed", "stable", "signature", "outline", "lean", "kept", "index")
#: Names, inputs and schemas that Bedrock rejects as they are.
HARD: list[dict[str, Any]] = [
    {"name": "fs.read file", "description": "", "inputSchema": {"type": "object"}},
    {"name": "查询天气", "title": "Get the weather", "inputSchema": {"type": "string"}},
    {"name": "x" * 100, "inputSchema": {"anyOf": [{"type": "object", "properties": {"a[]": {"type": "array"}}}]}},
]


def model() -> Shape:
    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    return service.operation_model("Converse").input_shape


def limits(shape: Shape, value: Any, at: str = "") -> list[str]:
    """What botocore leaves to the service: the longest text, patterns, and listed values."""
    found: list[str] = []
    if shape.type_name == "structure" and not getattr(shape, "is_document_type", False):
        for key, inner in value.items():
            found += limits(shape.members[key], inner, f"{at}/{key}")
        if getattr(shape, "is_tagged_union", False) and len(value) != 1:
            found.append(f"{at}: {sorted(value)} of a union")
    elif shape.type_name == "list":
        for place, inner in enumerate(value):
            found += limits(shape.member, inner, f"{at}/{place}")
    elif shape.type_name == "string":
        pattern, most = shape.metadata.get("pattern"), shape.metadata.get("max")
        if pattern and not re.fullmatch(pattern, value):
            found.append(f"{at}: {value!r} does not match {pattern}")
        if most and len(value) > most:
            found.append(f"{at}: {len(value)} characters")
        if shape.metadata.get("enum") and value not in shape.metadata["enum"]:
            found.append(f"{at}: {value!r}")
    return found


def check(request: dict[str, Any]) -> None:
    report = ParamValidator().validate(request, model())
    assert not report.has_errors(), report.generate_report()
    assert limits(model(), request) == []


def request(messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
    return {"modelId": "us.anthropic.claude-opus-4-5", "messages": messages, "toolConfig": {"tools": tools}}


USER = {"role": "user", "content": [{"text": "Go."}]}


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_is_accepted(arm: str) -> None:
    for tools in (TOOLS, HARD):
        conversation = toolfold.Engine(tools, arm=arm).conversation(wire=WIRE)
        check(request([USER], conversation.tools()))


def test_calls_and_answers_are_accepted() -> None:
    conversation = toolfold.Engine(TOOLS, "excel", "stable").conversation(wire=WIRE)
    calls = [
        {"toolUse": {"toolUseId": "tooluse_1", "name": "list_sheets", "input": {"file_path": "a.xlsx"}}},
        {"toolUse": {"toolUseId": "tooluse_2", "name": "expand_tools", "input": {"tools": ["format_cells"]}}},
        {"toolUse": {"toolUseId": "tooluse_3", "name": "nope", "input": {}}},
    ]
    message = {"role": "assistant", "content": [{"text": "I look."}, *calls]}
    turn = conversation.turn(message)
    for call in turn.runnable:
        turn.finish(call.id, "")
    answers = turn.messages()
    assert [block["toolResult"].get("status") for block in answers[0]["content"]] == [None, None, "error"]
    check(request([USER, message, *answers], conversation.tools()))


def test_the_model_can_reject() -> None:
    for tool in (
        {"toolSpec": {"name": "a.b", "inputSchema": {"json": {}}}},
        {"toolSpec": {"name": "a", "description": "", "inputSchema": {"json": {}}}},
        {"toolSpec": {"name": "a"}},
        {"toolSpec": {"name": "a", "inputSchema": {"json": {}}, "cache_control": {}}},
    ):
        with pytest.raises((AssertionError, KeyError)):
            check(request([USER], [tool]))
