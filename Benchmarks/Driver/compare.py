"""Compares the JSON of two runs: which lines changed, and which are equal within noise.

    Scripts/bench compare BEFORE.json AFTER.json

It compares each round's share of the line's first ceiling, so that a slower machine does not count
as a slower server; for lines without a ceiling it compares rates. A line has changed if the 99 %
confidence interval of the ratio of the means (Welch, on logarithms) does not contain 1.
"""
import argparse
import json
import math
import pathlib
import statistics

import report

# Student's t, two-sided, 99 %, for 1, 2, 3, … degrees of freedom; 2.6 for more than these.
STUDENT = [63.7, 9.9, 5.8, 4.6, 4.0, 3.7, 3.5, 3.4, 3.2, 3.2, 3.1, 3.1, 3.0, 3.0, 2.9, 2.9]


def observed(one):
    """The logarithms of the shares of a line's rounds, or of the rates of a line without a ceiling."""
    rounds, first = one["rounds"], next(iter(one["ceilings"]), None)
    if first:
        pairs = zip(rounds["ours"], rounds[first])
        values = [a["rate"] / b["rate"] for a, b in pairs if b["rate"]]
    else:
        values = [sample["rate"] for sample in rounds["ours"]]
    return [math.log(value) for value in values if value > 0]


def change(before, after):
    """The ratio of two sets of logarithms, and its bounds; no bounds if a set has fewer than two values."""
    if not before or not after:
        return None, None, None
    ratio = statistics.fmean(after) - statistics.fmean(before)
    if min(len(before), len(after)) < 2:
        return math.exp(ratio), None, None
    parts = [statistics.variance(values) / len(values) for values in (before, after)]
    total = sum(parts)
    if total == 0:
        return math.exp(ratio), math.exp(ratio), math.exp(ratio)
    freedom = total**2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (before, after)))
    index = max(1, math.floor(freedom)) - 1
    half = (STUDENT[index] if index < len(STUDENT) else 2.6) * math.sqrt(total)
    return math.exp(ratio), math.exp(ratio - half), math.exp(ratio + half)


def verdict(bounds, more_is_better=True):
    ratio, low, high = bounds
    if low is None:
        return "" if ratio is None else "one round: bounds unknown"
    if low <= 1 <= high:
        return "equal within noise"
    return "better" if (ratio > 1) == more_is_better else "worse"


def compared(before, after):
    """One row for each line and fact that both runs have."""
    rows = []
    old = {one["name"]: one for one in before["lines"]}
    for one in after["lines"]:
        if was := old.get(one["name"]):
            bounds = change(observed(was), observed(one))
            shares = [report.share(run) for run in (was, one)]
            measured = [report.percent(value) for value in shares]
            if None in shares:
                measured = [report.number(run["rate"]) for run in (was, one)]
            rows.append((one["name"], *measured, bounds, verdict(bounds)))
    old = {one["name"]: one for one in before["facts"]}
    for one in after["facts"]:
        if was := old.get(one["name"]):
            logs = [[math.log(value) for value in run["samples"] if value > 0] for run in (was, one)]
            bounds = change(*logs)
            measured = [report.number(run["p50"], one["digits"]) for run in (was, one)]
            rows.append((f"{one['name']} ({one['unit']})", *measured, bounds,
                         verdict(bounds, one["more"])))
    return rows


def told(rows):
    """The rows as a Markdown table, and one sentence that names the changed lines."""
    body = []
    for name, was, now, (ratio, low, high), said in rows:
        noise = "" if low is None else f"{low:.2f}–{high:.2f}"
        body.append([name, was, now, report.number(ratio, 2), noise, said])
    head = ["line", "share or value before", "after", "ratio", "99 % bounds", ""]
    moved = [f"{name} ({said}, {bounds[0]:.2f})" for name, _, _, bounds, said in rows
             if said in ("better", "worse")]
    said = f"Moved: {'; '.join(moved)}." if moved else "Nothing moved beyond noise."
    return report.markdown(head, body) + "\n\n" + said


def main():
    parser = argparse.ArgumentParser(
        prog="Scripts/bench compare", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    options = parser.parse_args()
    runs = [json.loads(path.read_text(encoding="utf-8"))
            for path in (options.before, options.after)]
    print(told(compared(*runs)))


if __name__ == "__main__":
    main()
