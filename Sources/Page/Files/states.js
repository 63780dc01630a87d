import { h, svg } from "./dom.js"
import { reason } from "./reasons.js"
import { t } from "./texts.js"

/** Content for views that wait, are empty, or have failed. */

/** Placeholders for cards that are being fetched. */
export function ghosts(count = 6) {
  const card = () => h("li.hotel.ghost", svg("svg", { class: "art", viewBox: "0 0 16 9" }),
    h("div.text", h("i"), h("i"), h("i")))
  return h("ul.hotels.ghosts", { "aria-hidden": "true" }, Array.from({ length: count }, card))
}

/** The content of a view that is being loaded. */
export const busy = () => h("div", { "aria-busy": "true" }, h("p.muted", { role: "status" }, t.moment))

/** A label for an item that is not sent yet. */
export const waits = (item) => item.pending ? h("span.chip.waiting", t.waits) : null

function suitcase() {
  return svg("svg", { viewBox: "0 0 72 48", "aria-hidden": "true" },
    svg("path", { d: "M14 16h44a4 4 0 0 1 4 4v20a4 4 0 0 1-4 4H14a4 4 0 0 1-4-4V20a4 4 0 0 1 4-4zM27 16v-6a3 3 0 0 1 3-3h12a3 3 0 0 1 3 3v6M20 16v28M52 16v28" }),
    svg("path", { d: "m45 26 9 3-3 9-9-3z" }))
}

/** The content of an empty view, with suggested actions. */
export function empty(title, text, ...actions) {
  return h("div.empty", suitcase(), h("h2", title), h("p.muted", text),
    actions.length ? h("div.row", actions) : null)
}

/** The content after a failure: the reason and the next actions. */
export function failure(error, again) {
  const isOffline = error?.error === "offline" || error?.code === "offline"
  return h("div.empty", { role: "alert" },
    h("h1", isOffline ? t.offline : t.failed),
    h("p.muted", reason(error)),
    h("div.row", again ? h("button.main", { onclick: again }, t.again) : null,
      h("a.button", { href: "/bookmarks" }, t.bookmarkedHotels)))
}
