"""An agent under each framework on the tests' workbook, for one process and for several."""

from __future__ import annotations

import importlib.util

#: What each host needs beside toolfold and openpyxl.
NEEDS = {
    "agent_framework": ["agent_framework"],
    "anthropic": ["anthropic"],
    "google_adk": ["google.adk"],
    "langchain": ["langchain", "langgraph.checkpoint.sqlite"],
    "openai": ["openai"],
    "openai_agents": ["agents"],
    "pydantic_ai": ["pydantic_ai"],
}


def missing(host: str) -> list[str]:
    """What a host needs and is not installed."""

    def there(name: str) -> bool:
        try:
            return importlib.util.find_spec(name) is not None
        except ModuleNotFoundError:
            return False

    return [name for name in NEEDS[host] if not there(name)]
