"""Prints the extra requests per first use of a folded tool, from rows of `toolfold ab`: the rates in src/profile/workload.toml.

    python3 evidence/arms/lookups.py evidence/arms/*.jsonl

A task of these rows is one first use of one tool. An extra request is one that ran nothing: a look-up, or a call that was answered with
the tool's definition. Arm `full` hides nothing, so its extra requests are the model's own noise: `beyond full` is the mean difference to
`full` on the same tasks. Intervals are those of the mean over tasks, 95 %.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

#: What an arm shows of a folded tool, as the rates are named.
SHOWS = {"full": "all", "signature": "signature", "kept": "outline", "lean": "required", "stable": "summary", "search": "index"}


def mean(counts: list[int]) -> str:
    """Returns the mean with its interval, empty without a number."""
    if not counts:
        return ""
    spread = 1.96 * statistics.stdev(counts) / len(counts) ** 0.5 if len(counts) > 1 else float("nan")
    return f"{statistics.mean(counts):.2f} ± {spread:.2f}"


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    extras: dict[str, dict[str, int]] = defaultdict(dict)
    for file in sys.argv[1:]:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row.get("schema") == "toolfold.ab/1" and row.get("driver") == "model" and not row.get("error"):
                    extras[row["arm"]][f"{Path(file).stem} {row['task']}"] = row["extra_requests"]
    domains = sorted({task.split()[0] for tasks in extras.values() for task in tasks})
    print(f"{'tasks':<10} {'arm':<10} {'shows':<10} {'number':>6}  {'extra':<12} beyond full")
    for domain in [*domains, "all"] if len(domains) > 1 else domains:
        for arm, shows in SHOWS.items():
            own = {task: extra for task, extra in extras[arm].items() if domain in ("all", task.split()[0])}
            paired = [extra - extras["full"][task] for task, extra in own.items() if task in extras["full"]]
            if own:
                beyond = "" if arm == "full" else mean(paired)
                print(f"{domain:<10} {arm:<10} {shows:<10} {len(own):>6}  {mean(list(own.values())):<12} {beyond}".rstrip())


if __name__ == "__main__":
    main()
