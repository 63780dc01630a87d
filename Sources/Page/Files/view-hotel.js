import { annotate } from "./annotate.js"
import { art } from "./art.js"
import { keepButton, renewKeepButtons } from "./cards.js"
import { client, follow, isUser } from "./client.js"
import { h, icon, labelled, refill, safeURL } from "./dom.js"
import { amenitiesOf, chips, nameOf, placeOf, text } from "./facts.js"
import { mapLink } from "./geo.js"
import { attempt, toast } from "./messages.js"
import { annotation } from "./offline/actions.js"
import { segment } from "./offline/server.js"
import { photosOf } from "./photos.js"
import { t } from "./texts.js"
import { listsOf, putOnLists } from "./to-lists.js"

/** One hotel, and the lists to which the user can add it. */
export async function show({ id }, signal) {
  const [hotel, bookmarks, known] = await Promise.all([client.hotel(id, { signal }), client.bookmarks(), listsOf(id)])
  const own = bookmarks.find(bookmark => bookmark.id === hotel.id), kept = !!own
  const name = nameOf(hotel), amenities = amenitiesOf(hotel)
  const history = h("a.button", { href: `/bookmarks/${segment(hotel.id)}/history`, hidden: !kept }, t.history)
  const words = h("div", ownWords(own))
  const photos = h("div")
  let look
  const showPhotos = bookmark => {
    const next = JSON.stringify([!!bookmark, bookmark?.photos])
    if (next === look) return
    look = next
    refill(photos, ...bookmark ? [h("section.panel.stack", h("h2", t.yourPhotos), photosOf(bookmark, name))] : [])
  }
  showPhotos(own)
  follow(["own"], signal, async () => {
    await renewKeepButtons()
    const present = (await client.bookmarks()).find(bookmark => bookmark.id === hotel.id)
    history.hidden = !present
    refill(words, ...ownWords(present))
    showPhotos(present)
  })
  const lists = h("div.panels")
  const renewLists = (now) => refill(lists, onLists(now, hotel, async () => renewLists(await listsOf(hotel.id))))
  renewLists(known)
  const node = h("article", null,
    h("div.hero", art(hotel)),
    h("div.pair",
      h("div.stack",
        h("h1", { dir: "auto" }, name), h("p.lead", { dir: "auto" }, placeOf(hotel)),
        h("div.row", keepButton(hotel, kept, { wide: true }), history),
        words, photos,
        text(hotel.description) ? h("p", { dir: "auto" }, text(hotel.description)) : null,
        amenities.length ? h("div", h("h2", t.features), chips(amenities)) : null),
      h("div", facts(hotel), lists)))
  return { title: name, place: "search", node }
}

/** The user's own words on a bookmark, as elements. */
function ownWords(bookmark) {
  if (!bookmark) return []
  const { note, tags } = annotation(bookmark.hotel)
  return [h("section.panel.stack", h("h2", t.yourNote), tags.length ? h("ul.chips", { "aria-label": t.yourTags }, tags.map(tag => h("li.mine", tag))) : null,
    note ? h("p.mine", { dir: "auto" }, note) : h("p.muted", t.onlyYouWrite),
    h("div.row", h("button", { onclick: () => annotate(bookmark) }, note || tags.length ? t.editNote : t.addNote)))]
}

function facts(hotel) {
  const url = safeURL(text(hotel.url)), phone = text(hotel.phone)
  const number = phone.replace(/[^\d+]/g, ""), price = text(hotel.price)
  // Most files have the currency beside a bare number. It has several names: `currency`, `priceCurrency`, `currency_code`.
  const currency = /[^\d.,'\s–-]/.test(price) ? "" : text(hotel[Object.keys(hotel).find(name => /currency/i.test(name))])
  const rows = [
    [t.address, [text(hotel.address), placeOf(hotel)].filter(Boolean).join(", ")], [t.map, mapLink(hotel)],
    [t.phone, phone && number ? h("a", { href: `tel:${number}` }, phone) : phone],
    [t.website, url && /^https?:/.test(url) ? h("a", { href: url, rel: "noopener noreferrer nofollow" }, new URL(url).hostname) : text(hotel.url)],
    [t.price, price && `${price} ${currency}`], [t.checkIn, text(hotel.checkin)], [t.checkOut, text(hotel.checkout)]
  ].filter(([, value]) => value)
  return h("section.panel", { "aria-label": t.contact },
    rows.length ? h("dl.facts", rows.map(([label, value]) => [h("dt", label), h("dd", value)]))
      : h("p.muted", t.nothingMore))
}

function onLists(known, hotel, renew) {
  if (!isUser()) {
    return h("section.panel.stack", h("h2", t.planning),
      h("p.muted", t.planningText),
      h("a.button", { href: "/sign-up" }, t.signUp))
  }
  const on = known.filter(({ isOn }) => isOn)
  return h("section.panel.stack", h("h2", t.lists),
    on.length ? h("ul.rows", on.map(({ list }) => h("li", h("a", { href: `/lists/${segment(list.id)}`, dir: "auto" }, list.title))))
      : h("p.muted", t.onNoList),
    h("div.row", h("button", { onclick: async () => { if (await putOnLists(hotel)) await renew() } }, icon("plus"), on.length ? t.changeLists : t.putOnList)),
    on.length || !known.length ? null : draftForm(known, hotel))
}

/** Puts the hotel on a list as a draft. */
function draftForm(known, hotel) {
  const select = h("select", { id: "to-list", name: "list" }, known.map(({ list }) => h("option", { value: list.id }, list.title)))
  return h("details", h("summary", t.forYou), h("form.stack", { onsubmit: () => attempt(async () => {
    await client.bookmark(hotel, { list: select.value, draft: true })
    toast(t.draftOn(known.find(({ list }) => list.id === select.value).list.title))
  }) }, labelled(t.list, select), h("button", t.putDraft)))
}
