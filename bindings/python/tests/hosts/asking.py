"""The agent of the contract under each framework, for test tables: approvals, runs and answers."""

from __future__ import annotations

from toolfold.testing import DELETE, DONE, Agent, tools_of

__all__ = ["ARMS", "COPIES", "DELETE", "DONE", "OTHER", "SEVEN", "Asking", "asking", "tools_of"]

SEVEN = ["agent_framework", "anthropic", "google_adk", "langchain", "openai", "openai_agents", "pydantic_ai"]
ARMS = ["full", "lean", "stable", "index", "auto"]
OTHER = ("delete_file", {"file_path": "q.xlsx", "confirm": True})
#: Enough other tools for arm ``auto`` to take ``index`` on the wires of OpenAI.
COPIES = len(tools_of("auto")) - len(tools_of("full"))


class Asking(Agent):
    """An agent, its model and its person."""


def asking(framework: str) -> type[Asking]:
    """The agent of a framework."""
    from hosts import asking_frameworks, asking_loops

    place = asking_loops if framework in ("anthropic", "openai") else asking_frameworks
    made: type[Asking] = getattr(place, framework)()
    return made
