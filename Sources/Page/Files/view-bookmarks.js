import { card } from "./cards.js"
import { client, follow, isFirstRound, isUser } from "./client.js"
import { time } from "./dates.js"
import { h, icon, refill, typing } from "./dom.js"
import { nameOf } from "./facts.js"
import { annotation } from "./offline/actions.js"
import { find } from "./offline/find.js"
import { segment } from "./offline/server.js"
import { rewrite } from "./router.js"
import { busy, empty, waits } from "./states.js"
import { toast } from "./messages.js"
import { annotate } from "./annotate.js"
import { t } from "./texts.js"
import { Tiles } from "./tiles.js"
import { locate } from "./geo.js"
import { distance, pointOf } from "./offline/places.js"

const collator = new Intl.Collator(undefined, { numeric: true, ignorePunctuation: true })

/** The orders, and how each compares two bookmarks. */
const orders = {
  newest: [t.newest, () => 0],
  name: [t.name, (one, other) => collator.compare(nameOf(one.hotel), nameOf(other.hotel))],
  place: [t.byPlace, (one, other) => collator.compare(sortedPlace(one.hotel), sortedPlace(other.hotel)) || orders.name[1](one, other)],
  near: [t.nearest]
}

const sortedPlace = hotel => [hotel.country, hotel.state, hotel.city].filter(part => typeof part === "string").join(" ") || "\uFFFF"

/** Bookmarked hotels, newest first; also without a network. */
export async function show({ query }, signal) {
  const state = { words: query.get("q") ?? "", order: query.get("order") ?? "newest", tag: query.get("tag") ?? "", map: query.has("map") }
  let all = [], here, map
  const count = h("p.lead", { "aria-live": "polite" })
  const content = h("div.section")
  const tiles = new Tiles(t.bookmarkedHotels, bookmark => bookmarkCard(bookmark, here), signal)
  const words = h("input", { id: "words", type: "search", value: state.words, ...typing(() => { state.words = words.value; arrange() }) })
  const order = h("select", { id: "order", onchange: () => choose(order.value) }, Object.entries(orders).map(([value, [label]]) =>
    h("option", { value, selected: state.order === value }, label)))
  const tags = h("div.row.tags", { role: "group", "aria-label": t.yourTags })
  const mapped = h("button", { "aria-pressed": String(state.map), onclick: () => {
    state.map = !state.map
    mapped.setAttribute("aria-pressed", state.map)
    return arrange()
  } }, icon("pin"), t.map)
  const tools = h("div.tools", { hidden: true },
    h("label", { for: "words" }, t.find), words, h("label", t.order, order), mapped, tags)

  async function choose(value) {
    if (value === "near" && !here) {
      here = await locate().catch(error => { toast(error.message) })
      // Other objects get other cards, with their distances.
      if (here) all = all.map(bookmark => ({ ...bookmark }))
    }
    state.order = order.value = value === "near" && !here ? "newest" : value
    arrange()
  }

  function showTags() {
    const names = [...new Set(all.flatMap(bookmark => annotation(bookmark.hotel).tags))].sort(collator.compare)
    if (state.tag && !names.includes(state.tag)) state.tag = ""
    refill(tags, ...names.map(name => h("button.chip", { "aria-pressed": String(name === state.tag), onclick: event => {
      state.tag = name === state.tag ? "" : name
      arrange()
      for (const button of tags.children) button.setAttribute("aria-pressed", button === event.target && state.tag === name)
    } }, name)))
  }

  /** Shows the bookmarks with the words and the tag, in the order, or on the map. */
  async function arrange() {
    let found = state.tag ? all.filter(bookmark => annotation(bookmark.hotel).tags.includes(state.tag)) : all
    if (state.words.trim()) {
      const hotels = new Set(find(found.map(bookmark => bookmark.hotel), { description: state.words }).hotels)
      found = found.filter(bookmark => hotels.has(bookmark.hotel))
    }
    const compare = state.order === "near" ? (one, other) => distance(here, one.hotel) - distance(here, other.hotel) : orders[state.order]?.[1]
    if (state.order !== "newest" && compare) found = found.toSorted(compare)
    const query = new URLSearchParams({ ...(state.words.trim() && { q: state.words }), ...(state.order !== "newest" && { order: state.order }), ...(state.tag && { tag: state.tag }), ...(state.map && { map: "" }) }).toString()
    rewrite(query ? `/bookmarks?${query}` : "/bookmarks")
    count.textContent = !all.length ? "" : found.length === all.length ? t.countHotels(all.length) : t.someOf(found.length, all.length)
    tools.hidden = all.length < 2
    if (found.length && state.map) {
      map ??= new (await import("./map.js")).HotelMap(signal)
      if (map.node.parentNode !== content) refill(content, map.node)
      return map.show(found)
    }
    if (found.length) {
      if (tiles.node.parentNode !== content) refill(content, tiles.node)
      return tiles.show(found)
    }
    tiles.show([])
    refill(content, all.length ? empty(t.noneHas, t.tryOther, h("button", { onclick: () => {
      words.value = state.words = state.tag = ""
      showTags()
      arrange()
    } }, t.showAll))
      : isFirstRound() ? busy() : empty(t.noneYet, t.noneYetText, h("a.button.main", { href: "/" }, t.findHotel)))
  }

  async function renew() {
    const former = new Map(all.map(bookmark => [bookmark.id, bookmark]))
    const next = await client.bookmarks()
    if (signal.aborted) return
    // An unchanged bookmark stays the same object, so that its card and its words stay too.
    all = next.map(bookmark => {
      const known = former.get(bookmark.id)
      return known && known.rev === bookmark.rev && !known.pending && !bookmark.pending ? known : bookmark
    })
    order.options[3].hidden = mapped.hidden = !all.some(bookmark => pointOf(bookmark.hotel))
    showTags()
    const hadFocus = content.contains(document.activeElement)
    const place = hadFocus ? tiles.place(document.activeElement) : -1
    await arrange()
    if (hadFocus && !content.contains(document.activeElement)) (tiles.at(place)?.querySelector("button.keep") ?? content.querySelector("a"))?.focus()
  }

  if (state.order === "near") state.order = "newest"
  follow(["own"], signal, renew)
  await renew()
  return {
    title: t.bookmarkedHotels, place: "bookmarks",
    node: h("div", h("h1", t.bookmarkedHotels), count, isUser() ? null : guests(), tools, content)
  }
}

function guests() {
  const { keptUntil } = client.session
  return h("p.note.section", t.guestNote(keptUntil && time(keptUntil), text => h("a", { href: "/sign-up" }, text)))
}

function bookmarkCard(bookmark, here) {
  const hotel = { ...bookmark.hotel, id: bookmark.id }, { note, tags } = annotation(hotel), name = nameOf(hotel)
  if (here && pointOf(hotel)) hotel.distance = distance(here, hotel)
  return card(hotel, {
    kept: true,
    signs: bookmark.pending ? [waits(bookmark)] : [],
    words: [tags.length ? h("ul.chips", { "aria-label": t.yourTags }, tags.map(tag => h("li.mine", tag))) : null, note ? h("p.mine", { dir: "auto" }, note) : null],
    end: [h("button", { "aria-label": t.noteOn(name), onclick: () => annotate(bookmark) }, note || tags.length ? t.editNote : t.addNote),
      h("a.button", { href: `/bookmarks/${segment(bookmark.id)}/history`, "aria-label": t.historyOf(name) }, t.history)]
  })
}
