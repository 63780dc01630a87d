"""Draws costs over sizes as SVG. Both axes are logarithmic; a dashed line shows linear growth."""
import math
import xml.sax.saxutils

WIDTH, HEIGHT = 640, 420
LEFT, RIGHT, TOP, BOTTOM = 84, 24, 44, 116
COLOURS = ["#0b5fce", "#c9371b", "#1a7f37", "#8250df", "#9a6700"]
# A logarithmic axis has no zero: the size 0 is drawn one decade before the smallest other size.
NONE = 0


def exponent(points, name):
    """The exponent with which a cost grows, from the first point to the last; None with fewer than two points."""
    known = [(size, costs[name]) for size, costs in points if size > NONE and name in costs]
    if len(known) < 2:
        return None
    (first, low), (last, high) = known[0], known[-1]
    return math.log(high / low) / math.log(last / first)


def drawn(title, axis, points, unit=" ms"):
    """One plot. Each of `points` is a size and a dictionary of names and costs in a unit."""
    sizes = [size for size, _ in points]
    costs = [cost for _, named in points for cost in named.values()]
    low, high = decades(min(costs), max(costs))
    places = {size: place(size, sizes) for size in sizes}
    first, last = min(places.values()), max(places.values())

    def across(decade):
        share = (decade - first) / max(last - first, 0.1)
        return LEFT + 12 + share * (WIDTH - LEFT - RIGHT - 24)

    def down(cost):
        share = (math.log10(cost) - low) / (high - low)
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)

    parts = [text(LEFT, 26, title, 'font-size="17" font-weight="bold"')]
    for power in range(low, high + 1):
        height = down(10**power)
        parts.append(f'<path d="M{LEFT} {height:.1f}H{WIDTH - RIGHT}" stroke="#d0d7de"/>')
        parts.append(text(LEFT - 8, height + 5, f"{10**power:g}{unit}", 'text-anchor="end"'))
    for size in sizes:
        over = across(places[size])
        parts.append(f'<path d="M{over:.1f} {HEIGHT - BOTTOM}v6" stroke="#57606a"/>')
        parts.append(text(over, HEIGHT - BOTTOM + 22, f"{size:,}", 'text-anchor="middle"'))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(text(middle, HEIGHT - BOTTOM + 42, axis, 'text-anchor="middle" fill="#57606a"'))
    parts.append(reference(first, last, low, high, across, down))
    parts += lines(points, places, across, down)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'width="{WIDTH}" height="{HEIGHT}" font-family="DejaVu Sans, Helvetica, sans-serif" '
        f'font-size="13" fill="#1f2328">\n<rect width="100%" height="100%" fill="#fff"/>\n'
        + "\n".join(parts) + "\n</svg>\n")


def decades(least, most):
    """The exponents of the powers of ten around the costs, at least two decades apart."""
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return low, max(high, low + 2)


def place(size, sizes):
    """The position of a size on its axis, in decades."""
    if size > NONE:
        return math.log10(size)
    return math.log10(min(other for other in sizes if other > NONE)) - 1


def reference(first, last, low, high, across, down):
    """The dashed line of linear growth, from the lower left corner."""
    length = min(last - first, high - low)
    start, end = (across(first), down(10**low)), (across(first + length), down(10**(low + length)))
    return (f'<path d="M{start[0]:.1f} {start[1]:.1f}L{end[0]:.1f} {end[1]:.1f}" stroke="#8c959f" '
            'stroke-dasharray="5 5"/>')


def lines(points, places, across, down):
    """A line for each name, and its entry in the legend with its exponent."""
    names = list(dict.fromkeys(name for _, costs in points for name in costs))
    column = (WIDTH - LEFT - RIGHT) / 2
    keys = [(name, COLOURS[number], exponent(points, name)) for number, name in enumerate(names)]
    parts = []
    for number, (name, colour, power) in enumerate(keys):
        known = [(across(places[size]), down(costs[name])) for size, costs in points if name in costs]
        spots = " ".join(f"{x:.1f},{y:.1f}" for x, y in known)
        parts.append(
            f'<polyline points="{spots}" fill="none" stroke="{colour}" stroke-width="2.5"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in known]
        label = name if power is None else f"{name}: n^{round(power, 2) + 0:.2f}".replace("-", "−")
        parts += key(number, column, colour, label, "")
    return parts + key(len(keys), column, "#8c959f", "dashed: n", ' stroke-dasharray="5 5"')


def key(number, column, colour, label, dashes):
    """An entry of the legend: a sample of the line and its name; two entries in a row below the axis."""
    x, y = LEFT + number % 2 * column, HEIGHT - 54 + number // 2 * 20
    return [f'<path d="M{x:.0f} {y - 4}h24" stroke="{colour}" stroke-width="2.5"{dashes}/>',
            text(x + 30, y, label, "")]


def text(x, y, content, attributes):
    return f'<text x="{x:.1f}" y="{y:.1f}" {attributes}>{xml.sax.saxutils.escape(content)}</text>'
