/** The page for developers. The browser makes it from the contract. The hash of the URL names the shown operation. */
import { h } from "./dom.js"
import { Contract } from "./docs-contract.js"
import { operationView, verb } from "./docs-operation.js"
import { prose } from "./docs-schema.js"

const main = document.getElementById("main")
const side = document.getElementById("side")
const list = document.getElementById("list")
const search = document.getElementById("search")
const found = document.getElementById("found")
const menu = document.getElementById("menu")
/** @type {import("./docs-try.js").Session} */
const session = { kind: "cookie", token: "", name: "", password: "", who: "no account" }
/** @type {Contract} */
let contract

try {
  contract = new Contract(await (await fetch("/openapi.json")).json())
  session.who = await caller()
  fillSide("")
  show(false)
  addEventListener("hashchange", () => show(true))
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
  let count = 0
  list.replaceChildren(...contract.tags.map(tag => {
    const fitting = tag.operations.filter(each => words.every(word => each.words.includes(word)))
    count += fitting.length
    return fitting.length ? h("section", null,
      h("h2", null, h("a", { href: `/docs#tag/${tag.name}` }, tag.name)),
      h("ul", null, fitting.map(each => h("li", null, h("a", { href: `/docs#${each.id}`, "data-operation": each.id }, verb(each), h("span", null, title(each))))))) : null
  }).filter(Boolean))
  found.textContent = words.length ? count === 1 ? "1 operation fits." : `${count} operations fit.` : ""
  mark()
}

/** A short title: the operation's id, split into words. */
function title(operation) {
  return operation.id.replaceAll(/([a-z])([A-Z])/g, "$1 $2").replaceAll(/([A-Z])([A-Z][a-z])/g, "$1 $2").toLowerCase().replace(/^./, first => first.toUpperCase())
}

function show(moves) {
  const wanted = location.hash.slice(1)
  if (wanted === "main") return
  const place = contract.operations.findIndex(each => each.id === wanted)
  const tag = contract.tags.find(each => `tag/${each.name}` === wanted)
  if (place >= 0) {
    const operation = contract.operations[place]
    main.replaceChildren(operationView(operation, { before: contract.operations[place - 1], after: contract.operations[place + 1] }, session))
    document.title = `${title(operation)} · Programming interface`
  } else {
    main.replaceChildren(tag ? tagView(tag) : overview())
    document.title = `${tag ? tag.name : "Programming interface"} · Hotel Bookmarks`
  }
  toggle(false)
  mark()
  if (!moves) return
  scrollTo(0, 0)
  document.getElementById("title")?.focus({ preventScroll: true })
}

function mark() {
  const wanted = location.hash.slice(1)
  for (const link of list.querySelectorAll("[data-operation]")) {
    const isIt = link.dataset.operation === wanted
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
    h("p", { class: "lead" }, "The same as a file: ", h("a", { href: "/openapi.yaml" }, "openapi.yaml"), " or ", h("a", { href: "/openapi.json" }, "openapi.json"), "."),
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
  if (event.key === "Enter") list.querySelector("a[data-operation]")?.click()
  if (event.key === "Escape" && search.value) { search.value = ""; fillSide("") }
})
addEventListener("keydown", event => {
  const isTyping = event.target.closest?.("input, textarea, select")
  if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) { event.preventDefault(); toggle(true); search.focus() }
  if (event.key === "Escape" && !isTyping) { toggle(false); menu.focus() }
})
