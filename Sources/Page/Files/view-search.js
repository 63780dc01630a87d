import { card, renewKeepButtons } from "./cards.js"
import { client, follow } from "./client.js"
import { h, icon, plural } from "./dom.js"
import { announce, toast } from "./messages.js"
import { rewrite } from "./router.js"
import { reason } from "./reasons.js"
import { empty, failure, ghosts } from "./states.js"

/** The first page: search while typing. The URL has the words, the order and the number of loaded pages. */

/** The time after the last key before a search starts, in milliseconds. */
const pause = 180
/** The number of hotels of a page. */
const size = 24
/** The largest number of pages that a reload shows again. */
const mostPages = 10

const sources = {
  upstream: "Up to date", cache: "Kept from a moment ago", stale: "Kept from earlier: the search does not answer",
  mirror: "From your bookmarks: the search does not answer", device: "From this device: you are offline"
}

export async function show({ query }, signal) {
  const state = {
    what: query.get("what") ?? "", where: query.get("where") ?? "", sort: query.get("sort") ?? "",
    near: query.get("near") ?? "", pages: Math.min(Math.max(1, Number(query.get("pages")) || 1), mostPages)
  }
  let running = new AbortController(), timer, next, known = []
  const results = h("ul.hotels", { "aria-label": "Hotels" })
  const place = h("div", ghosts())
  const count = h("p.count")
  const more = h("div.more")
  const options = h("datalist", { id: "places" })
  const field = (name, label, hint, list) => h("div", h("label", { for: name }, label),
    h("input", {
      id: name, name, type: "search", value: state[name], placeholder: hint, maxlength: 200, enterkeyhint: "search", list,
      oninput: event => { state[name] = event.target.value; later(name) }
    }))
  const sort = h("select", { name: "sort", onchange: () => { state.sort = sort.value; begin() } },
    [["", "Best match"], ["name", "Name"], ["price", "Price"], ["distance", "Distance"]].map(([value, label]) =>
      h("option", { value, selected: state.sort === value, disabled: value === "distance" && !state.near }, label)))
  const near = h("button", { "aria-pressed": String(Boolean(state.near)), onclick: () => locate() }, icon("pin"), "Near me")

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
    if (typed === state.where.trim()) options.replaceChildren(...found.map(({ name, country }) =>
      h("option", { value: name, label: [name, country, typed].filter(Boolean).join(" · ") })))
  }

  function tell(answer, total) {
    const found = answer.total ?? total
    const number = answer.matched ? `No hotel has all of it. With most of it: ${plural(found, "hotel")}` : answer.next !== undefined && answer.total === undefined ? `More than ${plural(found, "hotel")}` : plural(found, "hotel")
    count.replaceChildren(h("strong", number), " ", h("span.source", { "data-source": answer.source }, sources[answer.source] ?? answer.source))
    announce(`${number} found. ${answer.source === "upstream" ? "" : sources[answer.source] ?? ""}`)
  }

  function put(answer) {
    next = answer.next
    results.append(...answer.hotels.map(hotel => card(hotel, { kept: hotel.bookmarked, level: "h2" })))
    more.replaceChildren(...(next === undefined ? [] : [h("button", { onclick: further }, "More hotels")]))
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
      results.replaceChildren()
      put({ ...answer, hotels })
      tell(answer, hotels.length)
      place.replaceChildren(hotels.length ? results : empty("No hotel matches", known.length ? "There are hotels in these places:" : "Try other words.",
        known.map(({ name }) => h("button", { onclick: () => go(name) }, name)),
        h("button", { onclick: clear }, "Start again")))
    } catch (error) {
      if (mine.aborted) return
      count.replaceChildren()
      more.replaceChildren()
      place.replaceChildren(failure(error, () => begin({ pages })))
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
    for (const name of ["what", "where"]) form.elements[name].value = ""
    sort.value = ""
    begin()
    form.elements.what.focus()
  }

  function locate() {
    if (state.near) {
      state.near = ""
      if (state.sort === "distance") state.sort = sort.value = ""
      return showNear()
    }
    if (!navigator.geolocation) return toast("This browser does not say where you are.")
    near.disabled = true
    navigator.geolocation.getCurrentPosition(({ coords }) => {
      near.disabled = false
      state.near = `${coords.latitude.toFixed(3)},${coords.longitude.toFixed(3)}`
      state.sort = sort.value = "distance"
      showNear()
    }, () => {
      near.disabled = false
      toast("Your browser did not tell where you are.")
    }, { timeout: 10000, maximumAge: 600000 })
  }

  function showNear() {
    near.setAttribute("aria-pressed", String(Boolean(state.near)))
    sort.querySelector("[value=distance]").disabled = !state.near
    sort.value = state.sort
    begin()
  }

  const form = h("form.finder", { role: "search", "aria-label": "Hotels", autocomplete: "off", onsubmit: event => { event.preventDefault(); clearTimeout(timer); begin() } },
    field("what", "What are you looking for?", "Pool, breakfast, sea view …"), field("where", "Where?", "A city or a country", "places"), options,
    h("button.main", icon("bed"), "Search"))
  const node = h("div", null,
    h("h1", "Where would you like to wake up?"),
    h("p.lead", "Find a hotel, keep the ones you like, and plan the trip together. No form to fill in first."),
    form, h("div.tools", count, near, h("label", "Order", sort)), place, more)
  follow(["own"], signal, renewKeepButtons)
  signal.addEventListener("abort", () => { clearTimeout(timer); running.abort() })
  places("", 6).then(({ places, sorts }) => {
    known = places
    if (known.length) form.elements.where.placeholder = known.slice(0, 3).map(({ name }) => name).join(", ") + " …"
    for (const option of sort.options) option.hidden = sorts.length > 0 && option.value !== "" && !sorts.includes(option.value)
    near.hidden = sort.querySelector("[value=distance]").hidden
  })
  await Promise.race([begin({ pages: state.pages }), new Promise(done => setTimeout(done, 120))])
  return { title: "Hotel Bookmarks", place: "search", node }
}
