/** The administrator's databases: pages of documents, and queries. */
import { h } from "./dom.js"
import { ask, bytes, count, Refusal, send, some } from "./admin-api.js"
import { documentView } from "./admin-document.js"
import { paged, sheet } from "./admin-tables.js"

/** The number of documents on a page. */
const pageSize = 100

/** The path of a database. */
export function base(database) { return `/couch/${encodeURIComponent(database)}` }

/** @param {string[]} parts the parts of the hash: a database and a document, both optional */
export function browser(place, [database, document]) {
  if (database === undefined) return databases(place)
  return document === undefined ? documents(place, database) : documentView(place, database, document)
}

/** The breadcrumb navigation. */
export function crumbs(...steps) {
  return h("nav", { class: "crumbs", "aria-label": "Where you are" }, steps.map(([words, href], number) => [
    number > 0 && h("span", { "aria-hidden": "true" }, "/"), href ? h("a", { href }, words) : h("span", { "aria-current": "page" }, words)]))
}

function databases(place) {
  return paged(place, {
    title: "Databases", list: "stores", empty: "There is none yet.", path: () => "/v1/admin/stores?kind=database",
    lead: "The databases that you, the administrator, have made under /couch. People's own stores are not among them, and can't be looked into.",
    heads: ["Database", "#Size", "#Documents", "#Sequence"],
    row: each => [h("a", { href: `#/databases/${encodeURIComponent(each.name)}` }, each.name), bytes(each.bytes), count(each.documents), count(each.sequence)],
    controls: () => {
      const name = h("input", { id: "new", required: true, autocapitalize: "none", spellcheck: "false" }), told = h("p", { role: "alert" })
      return h("form", { class: "bar", onsubmit: () => ask(base(name.value), { method: "PUT" }).then(
        () => { location.hash = `#/databases/${encodeURIComponent(name.value)}` }, error => { told.textContent = error.message }) },
        h("div", null, h("label", { for: "new" }, "A new database"), name), h("button", { class: "main" }, "Make it"), told)
    },
  })
}

async function documents(place, database) {
  const info = await ask(base(database))
  const result = h("div")
  const pages = h("div", { class: "pages" })
  const before = []
  const link = id => h("a", { class: "id", href: `#/databases/${encodeURIComponent(database)}/${encodeURIComponent(id)}` }, id)
  const show = async start => {
    const query = new URLSearchParams({ limit: pageSize + 1, include_docs: "true", conflicts: "true" })
    if (start !== undefined) query.set("start_key", JSON.stringify(start))
    const { rows } = await ask(`${base(database)}/_all_docs?${query}`)
    const next = rows[pageSize]?.key
    result.replaceChildren(sheet("Documents", ["Document", "Revision", "Conflicts", "What it says"], rows.slice(0, pageSize).map(each => [
      link(each.id), h("span", { class: "id" }, short(each.value.rev)),
      each.doc?._conflicts ? h("span", { class: "state busy" }, count(each.doc._conflicts.length)) : "–", summary(each.doc)]), "There is no document in it."))
    const turn = (words, target, change) => h("button", { type: "button", disabled: !target, onclick: async () => { change(); await show(target.start) } }, words)
    pages.replaceChildren(turn("Previous", before.length > 0 && { start: before.at(-1) }, () => before.pop()),
      turn("Next", next !== undefined && { start: next }, () => before.push(start)), h("span", { class: "muted" }, `Page ${before.length + 1}`))
    pages.hidden = !before.length && next === undefined
  }
  await show()
  const finding = finder(database, link)
  place.replaceChildren(crumbs(["Databases", "#/databases"], [database]), h("h1", { tabindex: "-1" }, database),
    h("p", { class: "lead" }, `${some(info.doc_count, "document")}, ${count(info.doc_del_count)} deleted, ${bytes(info.sizes?.file)}`),
    h("p", null, h("button", { class: "quiet", type: "button", onclick: () => finding.querySelector("textarea").focus() }, "Find in it")),
    h("section", { class: "block" }, h("h2", null, "Documents"), result, pages), finding)
}

/** A revision id, shortened to its generation and 8 digits. */
export function short(rev) { return rev.length > 12 ? `${rev.slice(0, rev.indexOf("-") + 9)}…` : rev }

function summary(document) {
  const text = JSON.stringify(Object.fromEntries(Object.entries(document ?? {}).filter(([name]) => !name.startsWith("_"))))
  return h("span", { class: "id" }, text.length > 160 ? `${text.slice(0, 160)}…` : text)
}

function finder(database, link) {
  const query = h("textarea", { id: "query", class: "code", spellcheck: "false", value: `{\n  "selector": {"_id": {"$gt": null}},\n  "limit": 25\n}` })
  const result = h("div", { "aria-live": "polite" })
  const run = async path => {
    try {
      const value = JSON.parse(query.value)
      const answer = await send("POST", `${base(database)}/${path}`, value)
      result.replaceChildren(path === "_find"
        ? h("div", null, sheet("Found", ["Document", "What it says"], answer.docs.map(each => [each._id === undefined ? "–" : link(each._id), summary(each)]), "No document fits."), answer.warning && h("p", { class: "hint" }, answer.warning))
        : h("pre", { tabindex: "0", "aria-label": "How the query is answered" }, JSON.stringify(answer, null, 2)))
    } catch (error) {
      result.replaceChildren(h("p", { class: "note bad" }, error instanceof Refusal ? error.message : `The query is no JSON: ${error.message}`))
    }
  }
  return h("section", { class: "block" }, h("h2", null, "Find"),
    h("form", { class: "stack", onsubmit: event => { event.preventDefault(); run("_find") } },
      h("div", null, h("label", { for: "query" }, "Query, as _find takes it"), query),
      h("div", { class: "row" }, h("button", { class: "main", type: "submit" }, "Find"), h("button", { type: "button", onclick: () => run("_explain") }, "Explain"))), result)
}
