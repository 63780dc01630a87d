/** Tables of stores, people and lists, in pages of a hundred. */
import { h } from "./dom.js"
import { ask, bytes, count, moment } from "./admin-api.js"

/**
 * A table.
 * @param {string[]} heads the columns' names; a name that starts with `#` is a column of numbers
 * @param {Array<Array<Node|string>>} rows
 * @param {string} empty the text for a table without rows
 */
export function sheet(label, heads, rows, empty) {
  if (!rows.length) return h("div", { class: "sheet" }, h("p", { class: "none" }, empty))
  const isNumber = heads.map(each => each.startsWith("#"))
  return h("div", { class: "sheet", tabindex: "0", role: "region", "aria-label": label }, h("table", null,
    h("thead", null, h("tr", null, heads.map((each, place) => h("th", { scope: "col", class: isNumber[place] ? "number" : null }, each.replace(/^#/, ""))))),
    h("tbody", null, rows.map(row => h("tr", null, row.map((cell, place) => h("td", { class: isNumber[place] ? "number" : null }, cell)))))))
}

const id = text => h("span", { class: "id" }, text ?? "–")
const openness = each => h("span", { class: `state ${each.isOpen ? "good" : ""}` }, each.isOpen ? "open" : "closed")
const field = (name, label, input) => h("div", null, h("label", { for: name }, label), input)
const choice = (name, words, choose) => h("select", { id: name, onchange: event => choose(event.target.value) }, Object.entries(words).map(([value, text]) => h("option", { value }, text)))
const figures = ["#Size", "#Documents", "#Sequence", "Last use"]
const figured = each => [bytes(each.bytes), count(each.documents), count(each.sequence), moment(each.lastUsedAt)]

/** A panel with a table, which fetches one page at a time. */
export async function paged(place, { title, lead, path, list, heads, row, empty, controls }) {
  const body = h("div")
  const pages = h("div", { class: "pages" })
  const before = []
  const show = async after => {
    const mark = path().includes("?") ? "&" : "?"
    const answer = await ask(path() + (after ? `${mark}after=${encodeURIComponent(after)}` : ""))
    body.replaceChildren(sheet(title, heads, answer[list].map(row), empty))
    const turn = (words, target, change) => h("button", {
      type: "button", disabled: target === undefined,
      onclick: async () => { change(); await show(target); body.firstChild.focus?.() },
    }, words)
    pages.hidden = !before.length && !answer.next
    pages.replaceChildren(
      turn("Previous", before.length ? before.at(-1) : undefined, () => before.pop()),
      turn("Next", answer.next, () => before.push(after ?? "")),
      h("span", { class: "muted" }, `Page ${before.length + 1}, ${answer[list].length} shown`))
  }
  await show()
  place.replaceChildren(h("h1", { tabindex: "-1" }, title), h("p", { class: "lead" }, lead), controls?.(() => { before.length = 0; return show() }) ?? "", body, pages)
}

/** All stores. */
export function stores(place) {
  let kind = ""
  const kinds = { "": "All", guest: "Guests'", user: "Users'", list: "Lists'", database: "Databases", service: "The service's own" }
  return paged(place, {
    title: "Stores", list: "stores", empty: "There is no store of this kind.",
    lead: "Sizes and counts alone: what people keep is theirs. Documents and sequence are known of stores that were open since the start.",
    path: () => `/v1/admin/stores${kind ? `?kind=${kind}` : ""}`,
    heads: ["Store", "Kind", ...figures, "Now"],
    row: each => [each.kind === "database" ? h("a", { href: `#/databases/${encodeURIComponent(each.name)}` }, each.name) : id(each.name), each.kind, ...figured(each),
      openness(each)],
    controls: again => h("div", { class: "bar" }, field("kind", "Kind", choice("kind", kinds, value => { kind = value; again() }))),
  })
}

/** All users with an account. @param {function(string): void} say shows a text to the operator */
export function users(place, say) {
  let [name, sort, again] = ["", ""]
  const act = async (method, path, said) => {
    try { await ask(path, { method }); say(said) } catch (error) { say(error.message) }
    await again()
  }
  const reset = async (event, path, who) => {
    const row = event.target.parentElement
    if (!confirm(`Make a link with which ${who} sets another password? It ends all sessions of ${who}.`)) return
    try {
      const { url } = await ask(`${path}/password-resets`, { method: "POST" })
      const link = h("input", { readonly: "", value: url, "aria-label": `Link for ${who}`, onfocus: () => link.select() })
      row.append(h("p", { class: "note" }, "Give this link to the user alone. It works once, within a day, and is not shown again. ", link))
      link.focus()
    } catch (error) { row.append(h("p", { class: "note bad" }, `${error.message} '${who.replaceAll("'", "'\\''")}'`)) }
  }
  const acts = each => {
    const who = each.username ?? each.id, path = `/v1/admin/users/${encodeURIComponent(who)}`
    const button = (label, run) => h("button", { class: "quiet", "aria-label": `${label}: ${who}`, onclick: run }, label)
    return h("details", null, h("summary", { "aria-label": `Actions for ${who}` }, "…"), h("div", { class: "row" },
      each.username && button("End sessions", () => act("DELETE", `${path}/sessions`, `The sessions of ${who} have ended.`)),
      each.username && button("Reset the password", event => reset(event, path, who)),
      button("Erase", () => confirm(`Erase ${who} and everything of theirs? Nothing brings it back but a backup.`) && act("DELETE", path, `${who} is erased.`))))
  }
  return paged(place, {
    title: "Users", list: "users", empty: "There is no such user.",
    path: () => `/v1/admin/users?${new URLSearchParams({ ...(name && { name }), ...(sort && { sort }) })}`,
    lead: "Everybody who has an account.",
    heads: ["Name", "Account", "Since", ...figures, "Actions"],
    row: each => [each.username ?? h("span", { class: "muted" }, "by another issuer"), id(each.id), moment(each.createdAt), ...figured(each), (each.username ?? each.id) ? acts(each) : "damaged"],
    controls: shown => {
      again = shown
      return h("form", { class: "bar", onsubmit: event => { event.preventDefault(); again() } },
        field("name", "Part of the name", h("input", { id: "name", type: "search", onchange: event => { name = event.target.value.trim(); again() } })),
        field("sort", "Order", choice("sort", { "": "none", name: "by name", created: "newest first" }, value => { sort = value; again() })))
    },
  })
}

/** Guests who have a store. */
export function guests(place) {
  return paged(place, {
    title: "Guests", list: "guests", empty: "No guest has kept anything yet.", path: () => "/v1/admin/guests",
    lead: "Guests who have bookmarked something. A guest who stays away for 97 days is erased.",
    heads: ["Guest", ...figures, "Now"],
    row: each => [id(each.name), ...figured(each), openness(each)],
  })
}

/** Shared lists. */
export function lists(place) {
  return paged(place, {
    title: "Lists", list: "lists", empty: "No list is shared yet.", path: () => "/v1/admin/lists",
    lead: "Shared lists, without their titles.",
    heads: ["List", "#Members", ...figures],
    row: each => [id(each.id), count(each.members), ...figured(each)],
  })
}

/** Sessions that were used recently. */
export function sessions(place) {
  return paged(place, {
    title: "Sessions", list: "sessions", empty: "No session was used lately.", path: () => "/v1/admin/sessions",
    lead: "Sessions that were used here lately. Tokens are not kept anywhere, so there is no list of all.",
    heads: ["Session", "Who", "Name", "Account", "Ends"],
    row: each => [id(each.id), each.kind, each.username ?? "–", id(each.account), moment(each.expiresAt)],
  })
}

/** Who signed in, was erased, got another role, and what the administrator did. */
export function audit(place) {
  const about = each => [each.about, each.list && `list ${each.list}`, each.count, each.address].filter(it => it !== undefined).join(", ")
  return paged(place, {
    title: "Audit", list: "entries", empty: "Nothing was recorded. The server's setting --audit turns the log on.", path: () => "/v1/admin/audit?newest=true",
    lead: "Who signed in, failed to, was erased or got another role, and what the administrator did, in the last 90 days. Accounts are named by their ids.",
    heads: ["Time", "What", "Account", "By", "More"],
    row: each => [moment(each.time), each.event, id(each.account), id(each.by), about(each)],
  })
}
