import { h, safeURL } from "./dom.js"

/**
 * Renders Markdown: headings, paragraphs, lists, quotes, rules, code, emphasis, strong and deleted text, and links. It
 * creates elements and never parses HTML, so a tag in a note appears as text. Images become links, so that nothing is
 * fetched from another server.
 */

const inlines = [
  { pattern: /`([^`\n]+)`/, make: found => h("code", found[1]) },
  { pattern: /!?\[([^\]\n]*)\]\(([^()\s]+)\)/, make: found => link(found[2], found[1] || found[2]) },
  { pattern: /\*\*(?=\S)([^\n]+?)\*\*/, make: (found, depth) => h("strong", inline(found[1], depth)) },
  { pattern: /(?<![\w*])[*_](?=\S)([^*_\n]+?)[*_](?!\w)/, make: (found, depth) => h("em", inline(found[1], depth)) },
  { pattern: /~~(?=\S)([^\n]+?)~~/, make: (found, depth) => h("del", inline(found[1], depth)) },
  { pattern: /https?:\/\/[^\s<>()"]*[^\s<>()".,;:!?]/, make: found => link(found[0], found[0]) }
]

/** The maximum depth of nested emphasis. */
const deepest = 8
/** The maximum depth of nested quotes and lists. */
const deepestBlock = 6

function link(address, text) {
  const href = safeURL(address)
  return href ? h("a", { href, rel: "noopener noreferrer nofollow" }, text) : text
}

function inline(text, depth = 0) {
  const nodes = []
  let rest = text
  while (rest) {
    let first = null
    for (const kind of depth < deepest ? inlines : []) {
      const found = kind.pattern.exec(rest)
      if (found && (!first || found.index < first.found.index)) first = { kind, found }
    }
    if (!first) return [...nodes, rest]
    nodes.push(rest.slice(0, first.found.index), first.kind.make(first.found, depth + 1))
    rest = rest.slice(first.found.index + first.found[0].length)
  }
  return nodes
}

const starts = {
  fence: /^\s{0,3}```/, heading: /^(#{1,6})\s+(.*?)\s*#*$/, rule: /^\s{0,3}([-*_])(\s*\1){2,}\s*$/, quote: /^\s{0,3}>\s?/,
  bullet: /^\s{0,3}[-*+]\s+/, number: /^\s{0,3}\d{1,9}[.)]\s+/
}

/** Removes and returns the first lines, up to the first one that does not fit. */
function take(lines, fits) {
  const taken = []
  while (lines.length && fits(lines[0])) taken.push(lines.shift())
  return taken
}

function list(lines, tag, start, depth) {
  const items = []
  while (lines.length && start.test(lines[0])) {
    const first = lines.shift().replace(start, "")
    const more = take(lines, line => /^\s{2,}\S/.test(line)).map(line => line.replace(/^ {1,4}|^\t/, ""))
    items.push(h("li", inline(first), more.length ? blocks(more, depth + 1) : null))
  }
  return h(tag, null, items)
}

function block(lines, depth) {
  const line = lines[0]
  if (starts.fence.test(line)) {
    lines.shift()
    const code = take(lines, other => !starts.fence.test(other))
    lines.shift()
    return h("pre", { tabindex: "0", "aria-label": "Code" }, h("code", code.join("\n")))
  }
  const heading = starts.heading.exec(line)
  if (heading) {
    lines.shift()
    // Level 1 is the page's heading, and level 2 is the note's title.
    return h(`h${Math.min(heading[1].length + 2, 6)}`, null, inline(heading[2]))
  }
  if (starts.rule.test(line)) return lines.shift() && h("hr")
  if (depth < deepestBlock) {
    if (starts.quote.test(line)) {
      return h("blockquote", blocks(take(lines, other => starts.quote.test(other)).map(it => it.replace(starts.quote, "")), depth + 1))
    }
    if (starts.bullet.test(line)) return list(lines, "ul", starts.bullet, depth)
    if (starts.number.test(line)) return list(lines, "ol", starts.number, depth)
  }
  const words = [lines.shift(), ...take(lines, other => other.trim() && !Object.values(starts).some(start => start.test(other)))]
  return h("p", words.map((text, at) => [at ? h("br") : null, inline(text.trim())]))
}

function blocks(lines, depth) {
  const made = []
  while (lines.length) {
    if (lines[0].trim()) made.push(block(lines, depth))
    else lines.shift()
  }
  return made
}

/**
 * Renders a text.
 * @param {string} text
 * @returns {HTMLElement}
 */
export function markdown(text) {
  return h("div.prose", blocks(String(text ?? "").replace(/\r\n?/g, "\n").split("\n"), 0))
}
