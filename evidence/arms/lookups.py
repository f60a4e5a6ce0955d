"""Prints the extra requests per first use of a folded tool, from rows of `toolfold ab`: the rates in src/profile/workload.toml.

    python3 evidence/arms/lookups.py evidence/arms/*.jsonl
    python3 evidence/arms/lookups.py --rates evidence/arms/*.jsonl

With `--rates`, the output is the numbers of `[lookups]` in that file. A step of CI compares the two.

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

#: The arm of each rate. Only 4 of the tasks use a tool that is annotated as read-only, so that `required` and `required_write` are one mean.
RATES = {
    "signature": "signature",
    "outline": "kept",
    "required": "lean",
    "required_write": "lean",
    "summary": "stable",
    "index": "search",
}


def mean(counts: list[int]) -> str:
    """Returns the mean with its interval, empty without a number."""
    return "{:.2f} ± {:.2f}".format(*mean_and_spread(counts)) if counts else ""


def mean_and_spread(counts: list[int]) -> tuple[float, float]:
    """Returns the mean, and half the width of its interval."""
    spread = 1.96 * statistics.stdev(counts) / len(counts) ** 0.5 if len(counts) > 1 else float("nan")
    return statistics.mean(counts), spread


def read_extras(files: list[str]) -> dict[str, dict[str, int]]:
    """Returns the extra requests of each arm, by task."""
    extras: dict[str, dict[str, int]] = defaultdict(dict)
    for file in files:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row.get("schema") == "toolfold.ab/1" and row.get("driver") == "model" and not row.get("error"):
                    extras[row["arm"]][f"{Path(file).stem} {row['task']}"] = row["extra_requests"]
    return extras


def beyond_full(extras: dict[str, dict[str, int]], arm: str, domain: str = "all") -> list[int]:
    """Returns the difference between the arm and `full` on each task that both have played."""
    full = extras["full"]
    return [n - full[task] for task, n in extras[arm].items() if task in full and domain in ("all", task.split()[0])]


def main() -> None:
    files = [argument for argument in sys.argv[1:] if argument != "--rates"]
    if not files:
        sys.exit(__doc__)
    extras = read_extras(files)
    if "--rates" in sys.argv:
        if missing := [arm for arm in RATES.values() if not beyond_full(extras, arm)]:
            sys.exit(f"no task was played under `full` and under {', '.join(dict.fromkeys(missing))}")
        for rate, arm in RATES.items():
            counts = beyond_full(extras, arm)
            value, spread = mean_and_spread(counts)
            # A first use cannot save a request.
            print(f"{rate} = {max(value, 0):.2f} # ± {spread:.2f}, {len(counts)} tasks under `{arm}`")
        return
    domains = sorted({task.split()[0] for tasks in extras.values() for task in tasks})
    print(f"{'tasks':<10} {'arm':<10} {'shows':<10} {'number':>6}  {'extra':<12} beyond full")
    for domain in [*domains, "all"] if len(domains) > 1 else domains:
        for arm, shows in SHOWS.items():
            own = [extra for task, extra in extras[arm].items() if domain in ("all", task.split()[0])]
            if own:
                beyond = "" if arm == "full" else mean(beyond_full(extras, arm, domain))
                print(f"{domain:<10} {arm:<10} {shows:<10} {len(own):>6}  {mean(own):<12} {beyond}".rstrip())


if __name__ == "__main__":
    main()
