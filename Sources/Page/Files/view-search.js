import { card, renewKeepButtons } from "./cards.js"
import { client, follow } from "./client.js"
import { h, icon, labelled, refill, typing } from "./dom.js"
import { locate } from "./geo.js"
import { announce, toast } from "./messages.js"
import { rewrite } from "./router.js"
import { reason } from "./reasons.js"
import { empty, failure, ghosts } from "./states.js"
import { t } from "./texts.js"

/** The first page: search while typing. The URL has the words, the order and the number of loaded pages. */

/** The time after the last key before a search starts, in milliseconds. */
const pause = 180
/** The number of hotels of a page. */
const size = 24
/** The largest number of pages that a reload shows again. */
const mostPages = 10

const sources = {
  upstream: t.upstream, cache: t.cache, stale: t.stale,
  mirror: t.mirror, device: t.device
}

export async function show({ query }, signal) {
  const state = {
    what: query.get("what") ?? "", where: query.get("where") ?? "", sort: query.get("sort") ?? "",
    near: query.get("near") ?? "", pages: Math.min(Math.max(1, Number(query.get("pages")) || 1), mostPages)
  }
  let running = new AbortController(), timer, next, known = []
  const results = h("ul.hotels", { "aria-label": t.hotels })
  const place = h("div", ghosts())
  const count = h("p.count")
  const more = h("div.more")
  const options = h("datalist", { id: "places" })
  const field = (name, label, hint, list) => labelled(label,
    h("input", {
      id: name, name, type: "search", value: state[name], placeholder: hint, maxlength: 200, enterkeyhint: "search", list,
      ...typing(event => { state[name] = event.target.value; later(name) })
    }))
  const sort = h("select", { name: "sort", onchange: () => { state.sort = sort.value; begin() } },
    [["", t.best], ["name", t.name], ["price", t.price], ["distance", t.byDistance]].map(([value, label]) =>
      h("option", { value, selected: state.sort === value, disabled: value === "distance" && !state.near }, label)))
  const near = h("button", { "aria-pressed": String(!!state.near), onclick: () => toggleNear() }, icon("pin"), t.nearMe)

  function address() {
    const wanted = { what: state.what.trim(), where: state.where.trim(), sort: state.sort, near: state.near, pages: state.pages > 1 ? state.pages : "" }
    const text = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString()
    return text ? `/?${text}` : "/"
  }

  const ask = (offset, limit) => client.search({
    description: state.what.trim(), location: state.where.trim(), sort: state.sort, near: state.near, limit, offset
  }, { signal: running.signal })

  /** The places of the hotels, or none: a search does without. */
  const places = (prefix, limit) => client.places({ prefix, limit }, { signal }).catch(() => ({ places: [], sorts: [] }))

  /** Completes the place that is being typed. */
  async function complete() {
    const typed = state.where.trim(), found = typed ? (await places(typed, 8)).places : []
    // A browser shows only options with the typed text; the name may be in another language.
    if (typed === state.where.trim()) refill(options, ...found.map(({ name, country }) =>
      h("option", { value: name, label: [name, country, typed].filter(Boolean).join(" · ") })))
  }

  function tell(answer, total) {
    const found = answer.total ?? total
    const number = answer.matched ? t.mostOf(found) : answer.next !== undefined && answer.total === undefined ? t.moreThan(found) : t.countHotels(found)
    refill(count, h("strong", number), " ", h("span.source", { "data-source": answer.source }, sources[answer.source] ?? answer.source))
    announce(t.found(number, answer.source === "upstream" ? "" : sources[answer.source] ?? ""))
  }

  function put(answer) {
    next = answer.next
    results.append(...answer.hotels.map(hotel => card(hotel, { kept: hotel.bookmarked })))
    refill(more, ...(next === undefined ? [] : [h("button", { onclick: further }, t.moreHotels)]))
  }

  async function begin({ pages = 1 } = {}) {
    running.abort()
    running = new AbortController()
    state.pages = pages
    if (signal.aborted) return
    if (location.pathname === "/") rewrite(address())
    const { signal: mine } = running
    place.setAttribute("aria-busy", "true")
    try {
      let answer = await ask(0, size)
      const hotels = [...answer.hotels]
      for (let page = 1; page < pages && answer.next !== undefined; page++) {
        answer = await ask(answer.next, size)
        hotels.push(...answer.hotels)
      }
      if (mine.aborted) return
      refill(results)
      put({ ...answer, hotels })
      tell(answer, hotels.length)
      refill(place, hotels.length ? results : empty(t.noMatch, known.length ? t.placesAre : t.tryOther,
        known.map(({ name }) => h("button", { onclick: () => go(name) }, name)),
        h("button", { onclick: clear }, t.startAgain)))
    } catch (error) {
      if (mine.aborted) return
      refill(count)
      refill(more)
      refill(place, failure(error, () => begin({ pages })))
      announce(reason(error))
    } finally {
      if (!mine.aborted) place.removeAttribute("aria-busy")
    }
  }

  async function further(event) {
    event.target.disabled = true
    try {
      const at = results.childElementCount
      const answer = await ask(next, size)
      put(answer)
      tell(answer, results.childElementCount)
      state.pages = Math.min(state.pages + 1, mostPages)
      rewrite(address())
      results.children[at]?.querySelector("a")?.focus()
    } catch (error) {
      event.target.disabled = false
      toast(reason(error))
    }
  }

  function later(name) {
    clearTimeout(timer)
    timer = setTimeout(() => { begin(); if (name === "where") complete() }, pause)
  }

  function go(where) {
    state.what = form.elements.what.value = ""
    state.where = form.elements.where.value = where
    begin()
  }

  function clear() {
    Object.assign(state, { what: "", where: "", near: "", sort: "" })
    form.reset()
    showNear()
    form.elements.what.focus()
  }

  async function toggleNear() {
    if (state.near) {
      state.near = ""
      if (state.sort === "distance") state.sort = sort.value = ""
      return showNear()
    }
    near.disabled = true
    const here = await locate().catch(error => { toast(error.message) })
    near.disabled = false
    if (!here) return
    state.near = `${here.lat.toFixed(3)},${here.lon.toFixed(3)}`
    state.sort = sort.value = "distance"
    showNear()
  }

  function showNear() {
    near.setAttribute("aria-pressed", !!state.near)
    sort.querySelector("[value=distance]").disabled = !state.near
    sort.value = state.sort
    begin()
  }

  const form = h("form.finder", { role: "search", "aria-label": t.hotels, autocomplete: "off", onsubmit: () => { clearTimeout(timer); begin() } },
    field("what", t.what, t.whatHint), field("where", t.whereAsk, t.whereHint, "places"), options,
    h("button.main", icon("bed"), t.searchNow))
  const node = h("div", null,
    h("h1", t.wakeUp),
    h("p.lead", t.searchText),
    form, h("div.tools", count, near, h("label", t.order, sort)), place, more)
  follow(["own"], signal, renewKeepButtons)
  signal.addEventListener("abort", () => { clearTimeout(timer); running.abort() })
  places("", 6).then(({ places, sorts }) => {
    known = places
    if (known.length) form.elements.where.placeholder = known.slice(0, 3).map(({ name }) => name).join(", ") + " …"
    for (const option of sort.options) option.hidden = sorts.length > 0 && option.value !== "" && !sorts.includes(option.value)
    near.hidden = sort.querySelector("[value=distance]").hidden
  })
  const all = begin({ pages: state.pages })
  // To go back to a place, all of the page must be there.
  await (history.state?.scroll ? all : Promise.race([all, new Promise(done => setTimeout(done, 120))]))
  return { title: "Hotel Bookmarks", place: "search", node }
}
