/** The page for developers. The browser makes it from the contract and the book. The hash of the URL names what is shown. */
import { h } from "./dom.js"
import { Book, limitsView } from "./docs-book.js"
import { Contract } from "./docs-contract.js"
import { operationView, verb } from "./docs-operation.js"
import { prose } from "./docs-schema.js"
import { session as choices } from "./docs-try.js"

const main = document.getElementById("main")
const side = document.getElementById("side")
const list = document.getElementById("list")
const search = document.getElementById("search")
const found = document.getElementById("found")
const menu = document.getElementById("menu")
const book = new Book()
/** @type {import("./docs-try.js").Session} */
let session
/** @type {Contract} */
let contract

try {
  contract = new Contract(await (await fetch("/openapi.json")).json())
  session = choices(await caller())
  fillSide("")
  await show(false)
  addEventListener("hashchange", () => show(true))
  // A search finds the book's words a moment later.
  book.load().then(() => fillSide(search.value))
} catch (error) {
  main.replaceChildren(h("p", { class: "note bad", role: "alert" }, "The contract can't be had. Is the server running? ", h("button", { type: "button", onclick: () => location.reload() }, "Try again")))
}

/** The name of the browser's session. */
async function caller() {
  try {
    const answer = await (await fetch("/couch/_session", { headers: { Accept: "application/json" } })).json()
    return answer.userCtx?.name ?? "no account"
  } catch { return "no account" }
}

function fillSide(wanted) {
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  const fits = each => words.every(word => each.words.includes(word))
  let operations = 0, pages = 0
  const section = (name, links, hash) => links.length > 0 && h("section", null, h("h2", null, hash ? h("a", { href: `/docs#${hash}` }, name) : name), h("ul", null, links.map(each => h("li", null, each))))
  const reference = contract.tags.map(tag => {
    const fitting = tag.operations.filter(fits)
    operations += fitting.length
    return section(tag.name, fitting.map(each => h("a", { href: `/docs#${each.id}`, "data-place": each.id, "data-operation": each.id }, verb(each), h("span", null, title(each)))), `tag/${tag.name}`)
  })
  const guides = book.sections.map(({ title, pages: all }) => {
    const fitting = all.filter(fits)
    pages += fitting.length
    const limits = title === "Guides" && fits({ words: "limits" }) ? [pageLink("limits", "Limits")] : []
    return section(title, [...fitting.map(each => pageLink(`book/${each.name}`, each.title)), ...limits])
  })
  list.replaceChildren(...(words.length ? [reference, guides] : [guides, reference]).flat().filter(Boolean))
  found.textContent = words.length ? `${count(operations, "operation")} and ${count(pages, "page")} found.` : ""
  mark()
}

function count(number, noun) { return `${number} ${noun}${number === 1 ? "" : "s"}` }

function pageLink(hash, text) { return h("a", { class: "page", href: `/docs#${hash}`, "data-place": hash }, text) }

/** A short title: the operation's id, split into words. */
function title(operation) {
  return operation.id.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2").toLowerCase().replace(/^./, first => first.toUpperCase())
}

async function show(moves) {
  const wanted = location.hash.slice(1)
  if (wanted === "main") return
  const [view, name] = await viewOf(wanted)
  if (location.hash.slice(1) !== wanted) return
  main.replaceChildren(view)
  document.title = `${name} · Hotel Bookmarks`
  toggle(false)
  mark()
  if (!moves) return
  scrollTo(0, 0)
  document.getElementById("title")?.focus({ preventScroll: true })
}

/** What a hash names, and its title. */
async function viewOf(wanted) {
  const place = contract.operations.findIndex(each => each.id === wanted)
  if (place >= 0) {
    const [before, operation, after] = [-1, 0, 1].map(step => contract.operations[place + step])
    return [operationView(operation, { before, after }, session), `${title(operation)} · Programming interface`]
  }
  const page = book.page(wanted.replace(/^book\//, ""))
  if (page) {
    if (!page.text) await page.load()
    return [book.view(page), page.title]
  }
  if (wanted === "limits") return [await limitsView(), "Limits"]
  const tag = contract.tags.find(each => `tag/${each.name}` === wanted)
  return tag ? [tagView(tag), tag.name] : [overview(), "Programming interface"]
}

function mark() {
  const wanted = location.hash.slice(1)
  for (const link of list.querySelectorAll("[data-place]")) {
    const isIt = link.dataset.place === wanted
    if (isIt) link.setAttribute("aria-current", "page")
    else link.removeAttribute("aria-current")
    if (isIt && !search.value) link.scrollIntoView({ block: "nearest" })
  }
}

function overview() {
  const info = contract.document.info
  return h("article", null,
    h("p", { class: "path" }, `Version ${info.version}`), h("h1", { id: "title", tabindex: "-1" }, info.title),
    h("p", { class: "lead" }, info.summary), prose(info.description, "p", "lead"),
    h("p", { class: "lead" }, "The same as a file: ", h("a", { href: "/openapi.yaml" }, "openapi.yaml"), " or ", h("a", { href: "/openapi.json" }, "openapi.json"), "; only what an app needs: ", h("a", { href: "/openapi.yaml?part=app" }, "openapi.yaml?part=app"), "."),
    h("p", { class: "lead" }, "Begin with ", h("a", { href: "/docs#book/GettingStarted" }, "Getting started"), "."),
    h("div", { class: "part" }, h("h2", null, "What there is"), contract.tags.map(tag => h("div", { class: "field" },
      h("h3", null, h("a", { href: `/docs#tag/${tag.name}` }, tag.name)), prose(tag.description), h("p", { class: "hint" }, `${tag.operations.length} operations`)))))
}

function tagView(tag) {
  return h("article", null, h("h1", { id: "title", tabindex: "-1" }, tag.name), prose(tag.description, "p", "lead"),
    h("table", null, h("thead", null, h("tr", null, ["Operation", "What it does"].map(each => h("th", { scope: "col" }, each)))),
      h("tbody", null, tag.operations.map(each => h("tr", null,
        h("td", null, h("a", { href: `/docs#${each.id}` }, verb(each), " ", h("code", null, each.path))), h("td", null, prose(each.summary, "span")))))))
}

function toggle(isOpen) {
  side.classList.toggle("open", isOpen)
  menu.setAttribute("aria-expanded", isOpen)
}

menu.addEventListener("click", () => {
  toggle(!side.classList.contains("open"))
  if (side.classList.contains("open")) search.focus()
})
search.addEventListener("input", () => contract && fillSide(search.value))
search.addEventListener("keydown", event => {
  if (event.key === "Enter") list.querySelector("a[data-place]")?.click()
  if (event.key === "Escape" && search.value) { search.value = ""; fillSide("") }
})
addEventListener("keydown", event => {
  const isTyping = event.target.closest?.("input, textarea, select")
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) { event.preventDefault(); toggle(true); search.focus() }
  if (event.key === "Escape" && !isTyping) { toggle(false); menu.focus() }
})
