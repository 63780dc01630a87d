"""Medians, the table, and the comparison of two runs."""
import json
import statistics


def medians(rounds):
    """One sample of the medians of several: rate, p50 and p99 (microseconds)."""
    rounds = [one for one in rounds if one]
    if not rounds:
        return None
    return {key: statistics.median(one[key] for one in rounds) for key in ("rate", "p50", "p99")}


def spread(rounds):
    """How far the rates of the rounds lie apart, as a share of their median."""
    rates = [one["rate"] for one in rounds if one]
    middle = statistics.median(rates) if rates else 0
    return (max(rates) - min(rates)) / middle if middle else 0.0


def row(line, rounds):
    """The result of a line: `rounds` has a list of samples for each of ours, ceiling and couch."""
    ours, ceiling, couch = (medians(rounds.get(who, [])) for who in ("ours", "ceiling", "couch"))
    return {
        "name": line.name, "unit": line.unit, "connections": line.connections,
        **ours, "spread": spread(rounds["ours"]),
        # A busy machine may get nothing done in a smoke's second.
        "tail": ours["p99"] / ours["p50"] if ours["p50"] else None,
        "ceiling": line.ceiling, "ceilingRate": ceiling and ceiling["rate"],
        # Of each round on its own: what else the machine did then, both had to bear.
        "share": ratio(rounds["ours"], rounds.get("ceiling")), "wantedShare": line.share,
        "couchRate": couch and couch["rate"], "times": ratio(rounds["ours"], rounds.get("couch")),
        "wantedTimes": line.wanted,
        "refused": sum(one["refused"] for one in rounds["ours"]),
        "broken": sum(one["broken"] for one in rounds["ours"]),
    }


def ratio(ours, others):
    pairs = [a["rate"] / b["rate"] for a, b in zip(ours, others or []) if a and b and b["rate"]]
    return statistics.median(pairs) if pairs else None


def number(value, digits=0):
    return "" if value is None else f"{value:,.{digits}f}"


def time(microseconds):
    return f"{microseconds / 1000:,.2f}"


def table(rows):
    """The rows as a table of Markdown."""
    head = ["line", "conn.", "a second", "p50 ms", "p99 ms", "p99/p50", "ceiling", "a second",
            "share", "CouchDB", "times"]
    body = []
    for one in rows:
        body.append([
            one["name"], str(one["connections"]), number(one["rate"]), time(one["p50"]),
            time(one["p99"]), number(one["tail"], 1), one["ceiling"], number(one["ceilingRate"]),
            percent(one["share"]) + wanted(one["wantedShare"], percent),
            number(one["couchRate"]),
            number(one["times"], 1) + (wanted(one["wantedTimes"], number) if one["times"] else "")])
        if one["refused"] or one["broken"]:
            body[-1][0] += f" ({one['refused']} refused, {one['broken']} broken)"
    return markdown(head, body)


def facts(measured):
    """What is not a rate, as a table."""
    return markdown(["what", "value", "unit"], [
        [one["name"], number(one["value"], one.get("digits", 0)), one["unit"]] for one in measured])


def markdown(head, body):
    widths = [max(len(line[place]) for line in [head, *body]) for place in range(len(head))]
    lines = [head, ["-" * width for width in widths], *body]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
        for line in lines)


def percent(value):
    return "" if value is None else f"{100 * value:.0f} %"


def wanted(value, form):
    return f" of {form(value)}" if value else ""


def comparison(before, after):
    """Two runs side by side: rates and shares of the ceilings."""
    old = {one["name"]: one for one in before["lines"]}
    body = []
    for one in after["lines"]:
        was = old.get(one["name"])
        if was and was["rate"]:
            body.append([
                one["name"], number(was["rate"]), number(one["rate"]),
                f"{one['rate'] / was['rate']:.2f}", percent(was["share"]), percent(one["share"])])
    known = {one["name"]: one for one in before["facts"]}
    for one in after["facts"]:
        was = known.get(one["name"])
        if was and was["value"]:
            body.append([
                f"{one['name']} ({one['unit']})", number(was["value"], 1), number(one["value"], 1),
                f"{one['value'] / was['value']:.2f}", "", ""])
    return markdown(["line", "before", "after", "times", "share before", "after"], body)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)
