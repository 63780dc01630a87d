import { art } from "./art.js"
import { amenitiesOf, chips, keepButton, nameOf, placeOf, renewKeepButtons, text } from "./cards.js"
import { client, follow, isUser } from "./client.js"
import { h, safeURL } from "./dom.js"
import { attempt, toast } from "./messages.js"

/** One hotel, and the lists to which the user can add it. */
export async function show({ id }, signal) {
  const [hotel, bookmarks, lists] = await Promise.all([client.hotel(id, { signal }), client.bookmarks(), client.lists()])
  const kept = bookmarks.some(bookmark => bookmark.id === hotel.id)
  const name = nameOf(hotel), amenities = amenitiesOf(hotel)
  const history = h("a.button", { href: `/bookmarks/${encodeURIComponent(hotel.id)}/history`, hidden: !kept }, "History")
  follow(["own"], signal, async () => {
    await renewKeepButtons()
    history.hidden = !(await client.bookmarks()).some(bookmark => bookmark.id === hotel.id)
  })
  const node = h("article", null,
    h("div.hero", art(hotel)),
    h("div.pair",
      h("div.stack",
        h("h1", name), h("p.lead", placeOf(hotel)),
        h("div.row", keepButton(hotel, kept, { wide: true }), history),
        text(hotel.description) ? h("p", text(hotel.description)) : null,
        amenities.length ? h("div", h("h2", "What it has"), chips(amenities)) : null),
      h("div", facts(hotel), onLists(hotel, lists))))
  return { title: name, place: "search", node }
}

function facts(hotel) {
  const url = safeURL(text(hotel.url)), phone = text(hotel.phone)
  const number = phone.replace(/[^\d+]/g, "")
  const rows = [
    ["Address", [text(hotel.address), placeOf(hotel)].filter(Boolean).join(", ")],
    ["Phone", phone && number ? h("a", { href: `tel:${number}` }, phone) : phone],
    ["Website", url && /^https?:/.test(url) ? h("a", { href: url, rel: "noopener noreferrer nofollow" }, new URL(url).hostname) : text(hotel.url)],
    ["Price", text(hotel.price)], ["Check-in", text(hotel.checkin)], ["Check-out", text(hotel.checkout)]
  ].filter(([, value]) => value)
  return h("section.panel", { "aria-label": "Address and contact" },
    rows.length ? h("dl.facts", rows.map(([label, value]) => [h("dt", label), h("dd", value)]))
      : h("p.muted", "Nothing more is known."))
}

function onLists(hotel, lists) {
  const own = lists.filter(list => list.role !== "reader")
  if (!isUser()) {
    return h("section.panel.stack", h("h2", "Planning with others?"),
      h("p.muted", "With an account you can put hotels on lists that you share."),
      h("a.button", { href: "/sign-up" }, "Sign up"))
  }
  if (!own.length) {
    return h("section.panel.stack", h("h2", "Lists"), h("p.muted", "Put this hotel on a list that you share."),
      h("a.button", { href: "/lists" }, "Make a list"))
  }
  const select = h("select", { id: "to-list", name: "list" }, own.map(list => h("option", { value: list.id }, list.title)))
  const draft = h("input", { type: "checkbox", name: "draft" })
  return h("section.panel", h("h2", "Put it on a list"),
    h("form.stack", {
      onsubmit: event => {
        event.preventDefault()
        const list = own.find(it => it.id === select.value)
        attempt(async () => {
          await client.bookmark(hotel, { list: list.id, draft: draft.checked })
          toast(`It is on “${list.title}” now${draft.checked ? ", for your eyes only" : ""}.`)
        })
      }
    }, h("div", h("label", { for: "to-list" }, "List"), select),
    h("label.check", draft, "Only I see it for now"), h("button.main", "Put it there")))
}
