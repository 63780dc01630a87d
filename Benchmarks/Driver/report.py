"""The report of a run: medians, ratios, the table, and the missed aims."""
import statistics

# A line's p99 must be less than this multiple of its p50.
TAIL = 4


def row(line, rounds):
    """The result of a line. `rounds` has a list of samples for `ours`, `couch` and each ceiling."""
    ours = medians(rounds["ours"])
    ceilings = {name: {**medians(rounds[name]), "share": ratio(rounds["ours"], rounds[name])}
                for name in line.ceilings}
    couch = medians(rounds["couch"]) if "couch" in rounds else None
    found = {
        "name": line.name, "unit": line.unit, "connections": line.connections,
        **ours, "spread": spread(rounds["ours"]), "ceilings": ceilings, "couch": couch,
        "known": line.known or None,
        "times": times(ours["rate"], line.known, rounds["ours"], rounds.get("couch")),
        "wanted": {"times": line.wanted or None, "share": line.share or None, "tail": TAIL},
        "refused": sum(one["refused"] for one in rounds["ours"]),
        "broken": sum(one["broken"] for one in rounds["ours"]), "rounds": rounds}
    return {**found, "missed": aims(found)}


def medians(samples):
    """The medians of several samples: rate, and p50, p99 and maximum in microseconds."""
    found = {key: statistics.median(one[key] for one in samples)
             for key in ("rate", "p50", "p99", "max")}
    # On a busy machine, one second of `--smoke` may have no finished request.
    return {**found, "tail": found["p99"] / found["p50"] if found["p50"] else None}


def spread(samples):
    """The range of the rounds' rates, as a share of their median."""
    rates = [one["rate"] for one in samples]
    middle = statistics.median(rates)
    return (max(rates) - min(rates)) / middle if middle else 0.0


def ratio(ours, others):
    """The median of each round's ratio; within a round, other load on the machine affects both."""
    pairs = [a["rate"] / b["rate"] for a, b in zip(ours, others) if b["rate"]]
    return statistics.median(pairs) if pairs else None


def times(rate, known, ours, couch):
    """The rate as a multiple of a CouchDB's: of the given one, or of one measured on another machine."""
    if couch:
        return ratio(ours, couch)
    return rate / known if known else None


def share(one):
    """The rate as a share of the line's first ceiling."""
    return next((ceiling["share"] for ceiling in one["ceilings"].values()), None)


def aims(one):
    """The aims that a line misses."""
    wanted = one["wanted"]
    missed = []
    if wanted["times"] and one["times"] is not None and one["times"] < wanted["times"]:
        missed.append("times")
    if wanted["share"] and share(one) is not None and share(one) < wanted["share"]:
        missed.append("share")
    if one["tail"] is not None and one["tail"] >= wanted["tail"]:
        missed.append("tail")
    return missed


def table(rows):
    """The rows as a Markdown table, with the aims in brackets."""
    head = ["line", "conn.", "a second", "±", "p50 ms", "p99 ms", "p99/p50", "ceiling, a second",
            "share", "fsyncs, p99/p50", "CouchDB", "times"]
    body = []
    for one in rows:
        name, first = next(iter(one["ceilings"].items()))
        fsync, wanted = one["ceilings"].get("fsync"), one["wanted"]
        label = one["name"]
        if one["refused"] or one["broken"]:
            label += f" ({one['refused']} refused, {one['broken']} broken)"
        body.append([
            label, str(one["connections"]), number(one["rate"]), percent(one["spread"] / 2),
            time(one["p50"]), time(one["p99"]), number(one["tail"], 1),
            f"{name} {number(first['rate'])}",
            part(name, first["share"]) + bracketed(part(name, wanted["share"])),
            f"{number(fsync['rate'])}, {number(fsync['tail'], 1)}" if fsync else "",
            peer(one["couch"] and one["couch"]["rate"], one["known"]),
            (number(one["times"], 1) + bracketed(number(wanted["times"]))).strip()])
    return markdown(head, body)


def part(ceiling, value):
    """A share of a ceiling; of exchanges, how many rows there are for each."""
    return number(value, 1) if ceiling == "exchanges" else percent(value)


def peer(measured, known):
    """A CouchDB's rate; `~` marks one measured on another machine."""
    return number(measured) if measured is not None else f"~{number(known)}" if known else ""


def bracketed(text):
    return f" ({text})" if text else ""


def facts(measured):
    """The facts of `flows` as a Markdown table."""
    head = ["what", "p50", "p99", "unit", "wanted", "CouchDB", "times"]
    return markdown(head, [
        [one["name"], number(one["p50"], one["digits"]),
         number(one["p99"], one["digits"]) if len(one["samples"]) > 1 else "", one["unit"],
         goal(one), peer(one["couch"], one["known"]), number(one["times"], 1)]
        for one in measured])


def goal(one):
    wanted = one["wanted"]
    if "times" in wanted:
        return f"{number(wanted['times'])} times CouchDB's"
    if "least" in wanted:
        return f"at least {number(wanted['least'])}"
    return f"at most {number(wanted['most'])}" if "most" in wanted else ""


def missed(result):
    """One sentence that names the missed aims."""
    found = [f"{one['name']} ({', '.join(one['missed'])})"
             for one in result["lines"] + result["facts"] if one["missed"]]
    told = f"Not reached: {'; '.join(found)}." if found else "Every aim is reached."
    if any(one["couch"] is None and one["known"] for one in result["lines"]):
        told += " ~ is a CouchDB 3.5 that was measured elsewhere, on two quiet cores as these."
    return told


def markdown(head, body):
    widths = [max(len(line[index]) for line in [head, *body]) for index in range(len(head))]
    lines = [head, ["-" * width for width in widths], *body]
    return "\n".join(
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |"
        for line in lines)


def number(value, digits=0):
    return "" if value is None else f"{value:,.{digits}f}"


def time(microseconds):
    return f"{microseconds / 1000:,.2f}"


def percent(value):
    if value is None:
        return ""
    return f"{100 * value:.{1 if 0 < value < 0.1 else 0}f} %"
