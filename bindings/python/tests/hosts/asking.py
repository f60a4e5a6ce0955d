"""The agent of the contract under each framework, for test tables: approvals, runs and answers."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pydantic import BaseModel

from toolfold.testing import DELETE, DONE, Agent, tools_of

__all__ = ["ARMS", "COPIES", "DELETE", "DONE", "OTHER", "RENAME", "SEVEN", "Asking", "Sheets", "asking", "tools_of"]

SEVEN = ["agent_framework", "anthropic", "google_adk", "langchain", "openai", "openai_agents", "pydantic_ai"]
ARMS = ["full", "lean", "stable", "index", "auto"]
RENAME = "rename_sheet"
OTHER = ("delete_file", {"file_path": "q.xlsx", "confirm": True})
#: Enough other tools for arm ``auto`` to take ``index`` on the wires of OpenAI.
COPIES = len(tools_of("auto")) - len(tools_of("full"))


class Sheets(BaseModel):
    """The type of ``OUTPUT``."""

    sheets: int


class Asking(Agent):
    """An agent, its model and its person."""

    def renamed(self, user: Any, file_path: str, old_name: str, new_name: str) -> str:
        """The tool ``rename_sheet`` with an argument that the framework passes."""
        return self.run(RENAME, {"file_path": file_path, "old_name": old_name, "new_name": new_name, "user": user})


def asking(framework: str) -> type[Asking]:
    """The agent of a framework."""
    made: type[Asking] = import_module(f"hosts.asking_{framework}").Own
    return made
