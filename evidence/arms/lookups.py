"""Prints the extra requests per first use of a folded tool, from rows of `toolfold ab`: the rates in src/profile/workload.toml.

    python3 evidence/arms/lookups.py evidence/arms/*.jsonl

A task of these rows is one first use of one tool. An extra request is one that ran nothing: a look-up, or a call that was answered with
the tool's definition. The interval is that of the mean over tasks, 95 %. Arm `full` hides nothing: its rate is the model's own noise.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import defaultdict

#: What an arm shows of a folded tool, as the rates are named.
SHOWS = {"full": "-", "signature": "signature", "kept": "outline", "lean": "required", "stable": "summary", "search": "index", "index": "index"}


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    extras: dict[str, list[int]] = defaultdict(list)
    for file in sys.argv[1:]:
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row.get("schema") == "toolfold.ab/1" and row.get("driver") == "model" and not row.get("error"):
                    extras[row["arm"]].append(row["extra_requests"])
    print(f"{'arm':<10} {'shows':<10} {'tasks':>5} {'extra':>6}  interval")
    for arm, shows in SHOWS.items():
        if counts := extras.get(arm):
            mean = statistics.mean(counts)
            spread = 1.96 * statistics.stdev(counts) / len(counts) ** 0.5 if len(counts) > 1 else float("nan")
            print(f"{arm:<10} {shows:<10} {len(counts):>5} {mean:>6.2f}  ± {spread:.2f}")


if __name__ == "__main__":
    main()
