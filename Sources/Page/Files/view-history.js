import { client } from "./client.js"
import { h, time } from "./dom.js"
import { nameOf, placeOf, text } from "./facts.js"
import { announce, ask, attempt, toast } from "./messages.js"
import { render } from "./router.js"
import { empty } from "./states.js"

/** The revisions of a bookmark, and restoring an earlier one. */
export async function show({ id }, signal) {
  const page = await client.history(id)
  const bookmarks = await client.bookmarks()
  const name = nameOf(bookmarks.find(bookmark => bookmark.id === id)?.hotel ?? { id })
  const rows = h("ol.rows")
  const more = h("div.more")
  const put = ({ revisions, next }) => {
    rows.append(...revisions.map(revision => row(id, name, revision)))
    more.replaceChildren(...(next ? [h("button", {
      type: "button", onclick: () => attempt(async () => { if (!signal.aborted) put(await client.history(id, { after: next })) })
    }, "Earlier")] : []))
  }
  put(page)
  return {
    title: `History of ${name}`, place: "bookmarks",
    node: h("div.narrow", h("a.crumb", { href: "/bookmarks" }, "Bookmarked hotels"),
      h("h1", `History of ${name}`), h("p.lead", "Every change that is still known, newest first. Bringing one back adds a new change; nothing is lost."),
      h("div.section", page.revisions.length ? rows : empty("No history", "Nothing was noted of this hotel.")), more)
  }
}

function row(id, name, revision) {
  const said = revision.current ? (revision.deleted ? "Removed" : "As it is now") : revision.deleted ? "Removed" : revision.conflicting ? "Beside the present one" : "Earlier"
  const detail = h("div")
  const canRestore = !revision.current && (revision.kept || revision.deleted)
  return h("li", null,
    h("div.what", h("p", h("strong", said)),
      h("p.muted.small", revision.time ? time(revision.time) : "Time not known",
        ` · change ${revision.rev.split("-")[0]}`), detail),
    revision.kept && !revision.deleted ? h("button", {
      type: "button", "aria-label": `Show change ${revision.rev.split("-")[0]}`, onclick: event => attempt(async () => {
        if (detail.childNodes.length) return detail.replaceChildren()
        detail.replaceChildren(content(await client.revision(id, revision.rev)))
        event.target.setAttribute("aria-expanded", "true")
      })
    }, "Show") : null,
    canRestore ? h("button", {
      type: "button", "aria-label": `Bring back change ${revision.rev.split("-")[0]}`, onclick: () => attempt(async () => {
        if (!await ask({ title: "Bring this back?", text: `${name} will be as it was then.`, yes: "Bring it back" })) return
        const entry = await client.restore(id, revision.rev, { label: name })
        announce("It is being brought back")
        await client.settled(entry.id)
        toast("It is as it was then.")
        await render()
      })
    }, "Bring back") : null)
}

function content(document) {
  const hotel = document.hotel ?? document
  const rows = [["Name", nameOf({ ...hotel, id: "" })], ["Where", placeOf(hotel)], ["Description", text(hotel.description)]].filter(([, value]) => value)
  return h("dl.facts.panel", rows.map(([label, value]) => [h("dt", label), h("dd", value)]))
}
