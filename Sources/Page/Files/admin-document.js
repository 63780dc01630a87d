/** One document: its revision tree, the content of a revision, and conflicts side by side. */
import { h } from "./dom.js"
import { ask, count, some } from "./admin-api.js"
import { base, crumbs, short } from "./admin-browser.js"
import { drawTree, kind, readTree } from "./admin-tree.js"
import { sheet } from "./admin-tables.js"

const labels = { winner: "winner", conflict: "conflict", gone: "deleted", "": "earlier" }
const tones = { winner: "good", conflict: "busy", gone: "bad", "": "" }
/** The maximum number of revisions in the list. */
const listed = 40

export async function documentView(place, database, id) {
  const path = `${base(database)}/${id.startsWith("_design/") ? `_design/${encodeURIComponent(id.slice(8))}` : encodeURIComponent(id)}`
  const tree = readTree(await ask(`${path}?open_revs=all&revs=true`))
  const body = h("pre", { tabindex: "0", "aria-label": "What the revision says", id: "body" })
  const title = h("h2", null, "What it says")
  const choose = async rev => {
    title.textContent = `What ${short(rev)} says`
    try { body.textContent = JSON.stringify(await ask(`${path}?rev=${rev}`), null, 2) } catch (error) {
      body.textContent = error.status === 404 ? "What this revision said is no longer kept." : error.message
    }
  }
  const live = tree.leaves.filter(each => !each._deleted)
  const revisions = [...tree.revisions.values()].sort((one, other) => other.generation - one.generation || (one.rev < other.rev ? 1 : -1))
  body.textContent = JSON.stringify(without(tree.winner ?? {}), null, 2)
  place.replaceChildren(crumbs(["Databases", "#/databases"], [database, `#/databases/${encodeURIComponent(database)}`], [id]),
    h("h1", { tabindex: "-1" }, id),
    h("p", { class: "lead" }, `${some(tree.revisions.size, "revision")}, ${live.length > 1 ? some(live.length - 1, "conflict") : "no conflict"}`),
    h("section", { class: "block" }, h("h2", null, "Revisions"), drawTree(tree, choose), legend()),
    h("div", { class: "split block" },
      h("section", null, sheet("Revisions", ["Revision", "What it is"], revisions.slice(0, listed).map(each => [
        h("button", { class: "quiet id", type: "button", onclick: () => choose(each.rev) }, short(each.rev)),
        h("span", { class: `state ${tones[kind(tree, each)]}` }, labels[kind(tree, each)])]), "There is none."),
      revisions.length > listed && h("p", { class: "hint" }, `and ${count(revisions.length - listed)} older ones`)),
      h("section", null, title, body)),
    live.length > 1 ? conflicts(live) : "")
}

function without(document) {
  const { _revisions, ...rest } = document
  return rest
}

function legend() {
  return h("p", { class: "legend" }, "Filled: the winner, and in the other colour conflicts. Dashed: deleted. “+5”: five revisions in a row that are not drawn.")
}

/** The members of all live leaves side by side; members that differ are marked. */
function conflicts(live) {
  const names = [...new Set(live.flatMap(each => Object.keys(without(each))))].filter(name => !["_id", "_rev"].includes(name))
  const text = (document, name) => name in document ? JSON.stringify(document[name], null, 1) : "–"
  return h("section", { class: "block" }, h("h2", null, "Conflicts side by side"),
    h("div", { class: "sheet", tabindex: "0", role: "region", "aria-label": "Conflicts side by side" }, h("table", { class: "beside" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "Member"), live.map((each, place) => h("th", { scope: "col" }, place ? "Conflict " : "Winner ", h("span", { class: "id" }, short(each._rev)))))),
      h("tbody", null, names.map(name => {
        const texts = live.map(each => text(each, name))
        const differs = texts.some(each => each !== texts[0])
        return h("tr", { class: differs ? "differs" : null }, h("th", { scope: "row" }, name, differs && h("span", { class: "unseen" }, " differs")), texts.map(each => h("td", null, each)))
      })))))
}
