import { h, safeURL } from "./dom.js"

/**
 * Renders Markdown: headings, paragraphs, lists, boxes to tick, tables, quotes, rules, code, emphasis, strong and deleted
 * text, and links. It creates elements and never parses HTML, so a tag in a note appears as text. Images become links, so that nothing is
 * fetched from another server.
 *
 * The work grows linearly with the text: each place is looked at a fixed number of times. A text that takes longer than
 * ``longest`` all the same appears as it was written.
 */

/** The maximum depth of nested emphasis. */
const deepest = 8
/** The maximum depth of nested quotes and lists. */
const deepestBlock = 6
/** Milliseconds after which a text is shown as it was written. */
const longest = 50

/** The time until which rendering may go on, how many boxes there are so far, and what is called when one is ticked. */
let end = Infinity, boxes = 0, ticking
class TooLong extends Error {}
const mayGoOn = () => { if (performance.now() > end) throw new TooLong() }

function link(address, text) {
  const href = safeURL(address)
  return href ? h("a", { href, rel: "noopener noreferrer nofollow" }, text) : text
}

/** Finds texts from a place on. It remembers the last find, so that one without an end is searched for once. */
class Finder {
  constructor(text) { [this.text, this.known] = [text, new Map()] }

  /** The index of `wanted` at `from` or later; -1 if there is none. */
  next(wanted, from) {
    const known = this.known.get(wanted)
    if (known === -1 || known >= from) return known
    const found = this.text.indexOf(wanted, from)
    this.known.set(wanted, found)
    return found
  }
}

/** With parentheses in pairs, as addresses of encyclopedias have them. */
const address = /https?:\/\/(?:[^\s<>()"]|\([^\s<>()"]*\))*(?:[^\s<>()".,;:!?]|\([^\s<>()"]*\))/y
const target = /\(((?:[^()\s]|\([^()\s]*\))+)\)/y
const emphasis = /[*_](?=\S)([^*_]+)[*_](?!\w)/y

const at = (pattern, text, index) => ((pattern.lastIndex = index), pattern.exec(text))

/** The text between two marks that begin at `index`: the text and the index behind it; null if there is none. */
function between(mark, finder, index) {
  const start = index + mark.length, stop = finder.next(mark, start + 1)
  return stop > 0 && /\S/.test(finder.text[start]) ? [finder.text.slice(start, stop), stop + mark.length] : null
}

/** What begins at a special character: a node and the index behind it; null if it is plain text. */
function special(finder, index, depth) {
  const { text } = finder, inner = words => inline(words, depth + 1)
  const both = (tag, mark) => {
    const found = text.startsWith(mark, index) && between(mark, finder, index)
    return found && [h(tag, inner(found[0])), found[1]]
  }
  let found
  switch (text[index]) {
    case "`":
      found = finder.next("`", index + 1)
      return found > index + 1 ? [h("code", text.slice(index + 1, found)), found + 1] : null
    case "[": {
      const close = finder.next("]", index)
      found = close > 0 && close !== finder.dead && at(target, text, close + 1)
      // No other bracket before it leads to an address.
      if (!found) finder.dead = close
      return found ? [link(found[1], text.slice(index + 1, close) || found[1]), close + 1 + found[0].length] : null
    }
    case "!":
      return text[index + 1] === "[" ? special(finder, index + 1, depth) : null
    case "h":
      found = at(address, text, index)
      return found && [link(found[0], found[0]), index + found[0].length]
    case "~":
      return both("del", "~~")
    default:
      if ((found = both("strong", "**"))) return found
      if (index > 0 && /[\w*]/.test(text[index - 1])) return null
      found = at(emphasis, text, index)
      return found && [h("em", inner(found[1])), index + found[0].length]
  }
}

function inline(text, depth = 0) {
  if (depth >= deepest) return [text]
  const nodes = [], finder = new Finder(text)
  const specials = /[`[!~*_]|http/g
  let plain = 0
  for (let place; mayGoOn(), (place = specials.exec(text));) {
    const made = special(finder, place.index, depth)
    if (!made) {
      specials.lastIndex = place.index + 1
      continue
    }
    nodes.push(text.slice(plain, place.index), made[0])
    plain = specials.lastIndex = made[1]
  }
  return [...nodes, text.slice(plain)]
}

const starts = {
  fence: /^\s{0,3}```/, heading: /^#{1,6}\s/, rule: /^\s{0,3}([-*_])(\s*\1){2,}\s*$/, quote: /^\s{0,3}>\s?/,
  bullet: /^\s{0,3}[-*+]\s+/, number: /^\s{0,3}\d{1,9}[.)]\s+/
}

/** The lines of a text, and how many of them are rendered. */
class Lines {
  constructor(all) { [this.all, this.index] = [all, 0] }
  get first() { return this.all[this.index] }
  get areLeft() { return this.index < this.all.length }
  /** Passes the first line. */
  pass() {
    mayGoOn()
    return this.all[this.index++]
  }
  /** Passes the first lines, up to the first one that does not fit. */
  take(fits) {
    const from = this.index
    while (this.areLeft && fits(this.first)) this.pass()
    return this.all.slice(from, this.index)
  }
}

function list(lines, tag, start, depth) {
  const items = []
  while (lines.areLeft && start.test(lines.first)) {
    const first = lines.pass().replace(start, "")
    const state = box.exec(first)
    const words = state ? [ticks(state[1] !== " ", first.slice(state[0].length))] : inline(first)
    const more = lines.take(line => /^\s{2,}\S/.test(line)).map(line => line.replace(/^ {1,4}|^\t/, ""))
    items.push(h("li", { dir: "auto", class: state && "task" }, words, more.length ? blocks(more, depth + 1) : null))
  }
  return h(tag, null, items)
}

const box = /^\[([ xX])\]\s/

function ticks(isTicked, text) {
  const number = boxes++, tick = ticking
  return h("label.check", h("input", { type: "checkbox", checked: isTicked, disabled: !tick, onchange: () => tick(number, isTicked) }), h("span", inline(text.trim())))
}

/** The text with another state of one of its boxes; unchanged if that box is not as it was shown. */
export function ticked(text, number, wasTicked) {
  let isCode = false, count = 0
  return text.split("\n").map(line => {
    if (starts.fence.test(line)) isCode = !isCode
    const found = !isCode && /^[\s>]*(?:[-*+]|\d{1,9}[.)])\s+\[([ xX])\]\s/.exec(line)
    if (!found || count++ !== number || (found[1] !== " ") !== wasTicked) return line
    const place = found[0].length - 3
    return line.slice(0, place) + (wasTicked ? " " : "x") + line.slice(place + 1)
  }).join("\n")
}

const cells = line => line.trim().replace(/^\|/, "").replace(/\|$/, "").split("|").map(cell => cell.trim())
const isLine = line => line.includes("-") && cells(line).every(cell => /^:?-+:?$/.test(cell))

/** A table: a row, a line of dashes, and further rows. */
function table(lines) {
  const head = cells(lines.pass())
  const sides = cells(lines.pass()).map(cell => ({ class: cell.endsWith(":") ? cell.startsWith(":") ? "middle" : "last" : null }))
  // A short row gets no further cells: a text of n bytes could ask for n² of them.
  const row = (tag, texts) => h("tr", texts.slice(0, head.length).map((text, at) => h(tag, { dir: "auto", ...sides[at] }, inline(text))))
  const rows = lines.take(line => line.includes("|") && line.trim())
  return h("div.wide", { tabindex: "0" }, h("table", h("thead", row("th", head)), h("tbody", rows.map(line => row("td", cells(line))))))
}

/** A heading's text, without the marks before and behind it. */
function headingText(line) {
  const text = line.replace(/^#+/, "").trim()
  let stop = text.length
  while (text[stop - 1] === "#") stop -= 1
  return text.slice(0, stop).trimEnd()
}

function block(lines, depth) {
  const line = lines.first
  if (starts.fence.test(line)) {
    lines.pass()
    const code = lines.take(other => !starts.fence.test(other))
    lines.pass()
    return h("pre", { tabindex: "0" }, h("code", code.join("\n")))
  }
  if (starts.heading.test(line)) {
    lines.pass()
    // Level 1 is the page's heading, and level 2 is the note's title.
    return h(`h${Math.min(/^#+/.exec(line)[0].length + 2, 6)}`, { dir: "auto" }, inline(headingText(line)))
  }
  if (starts.rule.test(line)) return lines.pass() && h("hr")
  if (line.includes("|") && isLine(lines.all[lines.index + 1] ?? "") && cells(line).length === cells(lines.all[lines.index + 1]).length) return table(lines)
  if (depth < deepestBlock) {
    if (starts.quote.test(line)) {
      return h("blockquote", blocks(lines.take(other => starts.quote.test(other)).map(it => it.replace(starts.quote, "")), depth + 1))
    }
    if (starts.bullet.test(line)) return list(lines, "ul", starts.bullet, depth)
    if (starts.number.test(line)) return list(lines, "ol", starts.number, depth)
  }
  const words = [lines.pass(), ...lines.take(other => other.trim() && !Object.values(starts).some(start => start.test(other)))]
  return h("p", { dir: "auto" }, words.map((text, index) => [index ? h("br") : null, inline(text.trim())]))
}

function blocks(all, depth) {
  const made = [], lines = new Lines(all)
  while (lines.areLeft) {
    if (lines.first.trim()) made.push(block(lines, depth))
    else lines.pass()
  }
  return made
}

/**
 * Renders a text.
 * @param {string} text
 * @param {number} [milliseconds] How long it may take; after it the text is shown as it was written.
 * @param {(number: number, wasTicked: boolean) => void} [tick] Called when the reader ticks a box; see {@link ticked}.
 * @returns {HTMLElement}
 */
export function markdown(text, milliseconds = longest, tick) {
  const words = String(text ?? "").replace(/\r\n?/g, "\n")
  ;[end, boxes, ticking] = [performance.now() + milliseconds, 0, tick]
  try {
    return h("div.prose", blocks(words.split("\n"), 0))
  } catch (error) {
    if (!(error instanceof TooLong)) throw error
    return h("div.prose.written", { dir: "auto" }, words)
  }
}
