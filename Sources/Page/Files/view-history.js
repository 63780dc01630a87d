import { client } from "./client.js"
import { time } from "./dates.js"
import { h, refill } from "./dom.js"
import { nameOf, placeOf, text } from "./facts.js"
import { announce, ask, attempt, toast } from "./messages.js"
import { render } from "./router.js"
import { empty } from "./states.js"
import { t } from "./texts.js"

/** The revisions of a bookmark, and restoring an earlier one. */
export async function show({ id }, signal) {
  const page = await client.history(id)
  const bookmarks = await client.bookmarks()
  const name = nameOf(bookmarks.find(bookmark => bookmark.id === id)?.hotel ?? { id })
  const rows = h("ol.rows")
  const more = h("div.more")
  const put = ({ revisions, next }) => {
    rows.append(...revisions.map(revision => row(id, name, revision)))
    refill(more, ...(next ? [h("button", {
      onclick: () => attempt(async () => { if (!signal.aborted) put(await client.history(id, { after: next })) })
    }, t.earlier)] : []))
  }
  put(page)
  return {
    title: t.historyOf(name), place: "bookmarks",
    node: h("div.narrow", h("a.crumb", { href: "/bookmarks" }, t.bookmarkedHotels),
      h("h1", t.historyOf(name)), h("p.lead", t.historyText),
      h("div.section", page.revisions.length ? rows : empty(t.noHistory, t.nothingNoted)), more)
  }
}

function row(id, name, revision) {
  const said = revision.deleted ? t.removed : revision.current ? t.asNow : revision.conflicting ? t.beside : t.earlier
  const detail = h("div"), [number] = revision.rev.split("-")
  const canRestore = !revision.current && (revision.kept || revision.deleted)
  return h("li", null,
    h("div.what", h("p", h("strong", said)),
      h("p.muted.small", revision.time ? time(revision.time) : t.timeUnknown,
        " · ", t.changeNumber(number)), detail),
    revision.kept && !revision.deleted ? h("button", {
      "aria-label": t.showNumber(number), onclick: event => attempt(async () => {
        if (detail.childNodes.length) return refill(detail)
        refill(detail, content(await client.revision(id, revision.rev)))
        event.target.setAttribute("aria-expanded", "true")
      })
    }, t.show) : null,
    canRestore ? h("button", {
      "aria-label": t.bringNumber(number), onclick: () => attempt(async () => {
        if (!await ask({ title: t.bringThisBack, text: t.willBe(name), yes: t.bringItBack })) return
        const entry = await client.restore(id, revision.rev, { label: name })
        announce(t.beingBrought)
        await client.settled(entry.id)
        toast(t.asThen)
        await render()
      })
    }, t.bringBack) : null)
}

function content(document) {
  const hotel = document.hotel ?? document
  const rows = [[t.name, nameOf({ ...hotel, id: "" })], [t.where, placeOf(hotel)], [t.description, text(hotel.description)]].filter(([, value]) => value)
  return h("dl.facts.panel", rows.map(([label, value]) => [h("dt", label), h("dd", value)]))
}
