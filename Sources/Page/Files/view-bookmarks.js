import { card, nameOf } from "./cards.js"
import { client, follow, isUser } from "./client.js"
import { h, plural } from "./dom.js"
import { empty, waits } from "./states.js"

/** Bookmarked hotels, newest first; also without a network. */
export async function show(_, signal) {
  const count = h("p.lead", { "aria-live": "polite" })
  const content = h("div.section")
  let shown = new Map()

  async function renew() {
    const bookmarks = await client.bookmarks()
    if (signal.aborted) return
    count.textContent = bookmarks.length ? `${plural(bookmarks.length, "hotel")}, here and on every device that you use` : ""
    // An unchanged card keeps its element, so that the focus and the layout stay.
    const next = new Map(bookmarks.map(bookmark => {
      const look = JSON.stringify(bookmark)
      const known = shown.get(bookmark.id)
      return [bookmark.id, known?.look === look ? known : { look, node: bookmarkCard(bookmark) }]
    }))
    const hadFocus = content.contains(document.activeElement) ? document.activeElement.closest("[data-id]")?.dataset.id : undefined
    const place = [...shown.keys()].indexOf(hadFocus)
    shown = next
    if (!bookmarks.length) {
      content.replaceChildren(empty("Nothing bookmarked yet", "Hotels that you bookmark are kept here, also when you are offline.",
        h("a.button.main", { href: "/" }, "Find a hotel")))
    } else {
      const list = content.querySelector("ul.hotels") ?? h("ul.hotels", { "aria-label": "Bookmarked hotels" })
      arrange(list, [...next.values()].map(it => it.node))
      if (list.parentNode !== content) content.replaceChildren(list)
    }
    if (hadFocus !== undefined && !content.contains(document.activeElement)) refocus(next, place)
  }

  function refocus(next, place) {
    const nodes = [...next.values()]
    const node = nodes[Math.min(place, nodes.length - 1)]?.node
    if (node) node.querySelector("button.keep").focus()
    else content.querySelector("a")?.focus()
  }

  follow(["own"], signal, renew)
  await renew()
  return {
    title: "Bookmarked hotels", place: "bookmarks",
    node: h("div", h("h1", "Bookmarked hotels"), count,
      isUser() ? null : h("p.note.section", "You are here as a guest. ",
        h("a", { href: "/sign-up" }, "Sign up"), " to have your bookmarks on other devices too. What you have bookmarked comes along."),
      content)
  }
}

/** Puts a parent's elements into this order, moves only those in a wrong position, and removes all others. */
export function arrange(parent, nodes) {
  nodes.forEach((node, at) => { if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] ?? null) })
  while (parent.childElementCount > nodes.length) parent.lastElementChild.remove()
}

function bookmarkCard(bookmark) {
  const hotel = { ...bookmark.hotel, id: bookmark.id }
  return card(hotel, {
    kept: true, level: "h2",
    signs: bookmark.pending ? [waits(bookmark)] : [],
    end: [h("a.button", { href: `/bookmarks/${encodeURIComponent(bookmark.id)}/history`, "aria-label": `History of ${nameOf(hotel)}` }, "History")]
  })
}
