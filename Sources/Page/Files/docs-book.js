/** The book's pages for those who write an app or run a server. The files are those of the book itself. */
import { h } from "./dom.js"
import { markdown } from "./markdown.js"

/** The pages in the order in which they are listed; the book's first page has the same order. */
const sections = {
  Guides: ["GettingStarted"],
  "What it does": [
    "Accounts", "Search", "Upstreams", "Lists", "Observers", "Receipts", "Delivery", "Mirror", "WebPage", "Offline", "History", "Portability", "Sync",
    "CouchbaseLite", "Replication", "Queries", "Errors"],
  "Running it": ["Operations", "Audit", "Backup", "Cluster", "Database", "Moving", "Reliability", "Security", "HostileInput"],
}
/** Milliseconds that a page may take to be rendered; the pages are our own. */
const longest = 10_000

/** One page. Its text is there after {@link Book.load}. */
class Page {
  text = ""
  constructor(name) {
    this.name = name
    this.title = name.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replace(/(?<=.)[A-Z](?=[a-z])/g, letter => letter.toLowerCase())
  }

  /** The text that a search matches. */
  get words() { return `${this.title} ${this.text}`.toLowerCase() }

  async load() {
    const answer = await fetch(new URL(`./${this.name}.md`, import.meta.url))
    if (!answer.ok) throw new Error(`The page ${this.name} can't be had.`)
    this.text = await answer.text()
    this.title = /^# (.*)$/m.exec(this.text)?.[1].replaceAll("`", "") ?? this.title
  }
}

/** All pages. */
export class Book {
  /** @type {{title: string, pages: Page[]}[]} */
  sections = Object.entries(sections).map(([title, names]) => ({ title, pages: names.map(name => new Page(name)) }))

  /** The page of a name; undefined if there is none. */
  page(name) { return this.sections.flatMap(each => each.pages).find(each => each.name === name) }

  /** Loads all texts, for the titles and the search. A page that can't be had stays empty. */
  async load() { await Promise.allSettled(this.sections.flatMap(each => each.pages).map(page => page.load())) }

  /** @param {Page} page */
  view(page) {
    const text = markdown(flowing(this.#linked(page.text.replace(/^# .*\n/, ""))), longest)
    // The text's second level is this page's second level.
    for (const heading of text.querySelectorAll("h4, h5, h6")) heading.replaceWith(h(`h${heading.localName[1] - 2}`, null, [...heading.childNodes]))
    text.querySelectorAll(".wide").forEach((table, place) => table.setAttribute("aria-label", `Table ${place + 1}`))
    return h("article", null, h("p", { class: "path" }, "The book"), h("h1", { id: "title", tabindex: "-1" }, page.title), text)
  }

  /** The text with the links between pages as links. A page that is not here is named. */
  #linked(text) {
    return text.replaceAll(/<doc:(\w+)>/g, (_, name) => {
      const page = this.page(name)
      return page ? `[${page.title}](${location.origin}/docs#book/${name})` : `*${new Page(name).title}*`
    })
  }
}

/** The text with each paragraph on one line, because `markdown` keeps the lines of a note. */
export function flowing(text) {
  const lines = []
  let isCode = false
  for (const line of text.split("\n")) {
    if (line.startsWith("![")) continue
    const mark = line.trimStart().startsWith("```")
    const isBlock = isCode || mark || !line.trim() || /^\s*(#{1,6} |[-*+] |\d+[.)] |\||>)/.test(line)
    if (isBlock || !lines.at(-1)?.trim() || /^(#|\||```)/.test(lines.at(-1))) lines.push(line)
    else lines[lines.length - 1] += ` ${line.trim()}`
    if (mark) isCode = !isCode
  }
  return lines.join("\n")
}

/** The server's limits, as they are now. */
export async function limitsView() {
  const { limits } = await (await fetch("/v1/limits")).json()
  return h("article", null, h("h1", { id: "title", tabindex: "-1" }, "Limits"),
    h("p", { class: "lead" }, "What ", h("a", { href: "/docs#getLimits" }, "GET /v1/limits"), " answers now. What goes beyond is refused with 400, 413, 429, 431, 503 or 507; ", h("a", { href: "/docs#book/Errors" }, "Errors"), " says what to do then."),
    h("table", null, h("thead", null, h("tr", null, ["Limit", "Value", "Unit"].map(each => h("th", { scope: "col" }, each)))),
      h("tbody", null, limits.map(each => h("tr", null, h("td", null, h("code", null, each.name)), h("td", null, each.value.toLocaleString("en-GB")), h("td", null, each.unit))))))
}
