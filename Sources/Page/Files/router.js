import { hear, isFirstRound, whenFirstRoundEnds } from "./client.js"
import { refill } from "./dom.js"
import { busy, failure } from "./states.js"
import { announce } from "./messages.js"
import { t } from "./texts.js"

/**
 * Shows views by URL. A link within the page changes the view without loading the page again; back, forward and reload
 * work as with pages of a server. After each change of view, the focus is on its heading.
 *
 * @typedef {object} View
 * @property {string} title For the window, the history and screen readers.
 * @property {Node} node
 * @property {string} [place] The entry of the main navigation that is marked as current.
 *
 * @callback Show
 * @param {Object<string, string>} params The values of the names in the path's pattern, and `query`.
 * @param {AbortSignal} signal It is aborted when the view is left; listeners use it.
 * @returns {Promise<View>}
 */

/** @type {{pattern: RegExp, names: string[], load: () => Promise<{show: Show}>}[]} */
const routes = []
let leaving = new AbortController()
let isFirst = true

/** Adds a route for a path such as `/lists/{id}`. */
export function route(path, load) {
  const names = []
  const text = path.replace(/\{(\w+)\}/g, (_, name) => { names.push(name); return "([^/]+)" })
  routes.push({ pattern: new RegExp(`^${text}/?$`), names, load })
}

const nowhere = () => import("./view-nowhere.js")

function resolve(path) {
  for (const { pattern, names, load } of routes) {
    const found = pattern.exec(path)
    if (!found) continue
    try {
      return { load, params: Object.fromEntries(names.map((name, at) => [name, decodeURIComponent(found[at + 1])])) }
    } catch {
      // Invalid percent-encoding: not a path of the app.
    }
  }
  return { load: nowhere, params: {} }
}

/** Goes to a URL of the app. `replace` replaces the present URL in the history. */
export function go(url, { replace = false } = {}) {
  remember()
  history[replace ? "replaceState" : "pushState"]({}, "", url)
  return render()
}

/** Changes the present URL without showing another view. */
export const rewrite = url => history.replaceState({ ...history.state }, "", url)

const remember = () => history.replaceState({ ...history.state, scroll: window.scrollY }, "")

/** Shows the view of the present URL. */
export async function render(scroll = 0) {
  leaving.abort()
  leaving = new AbortController()
  // A question belongs to its view, and to its person.
  document.querySelector("dialog")?.close()
  const { signal } = leaving
  const main = document.getElementById("main")
  const { load, params } = resolve(location.pathname)
  params.query = new URLSearchParams(location.search)
  // A view that is ready within 150 ms needs no waiting text; without the delay, the text would flicker.
  const waiting = setTimeout(() => refill(main, busy()), 150)
  signal.addEventListener("abort", () => clearTimeout(waiting))
  let view
  try {
    view = await (await load()).show(params, signal)
  } catch (error) {
    const isMissing = error?.code === "not_stored"
    view = isMissing && isFirstRound() ? { title: t.moment, node: busy() } : { title: t.failed, node: failure(error, () => render()) }
    // The server may have what the copy does not have yet. Then it is shown when it comes.
    if (isMissing) hear("change", signal, () => render())
    if (isMissing) whenFirstRoundEnds(signal, () => render())
  }
  clearTimeout(waiting)
  if (signal.aborted) return
  refill(main, view.node)
  document.title = view.title === "Hotel Bookmarks" ? view.title : `${view.title} · Hotel Bookmarks`
  for (const link of document.querySelectorAll("[data-place]")) {
    if (link.dataset.place === view.place) link.setAttribute("aria-current", "page")
    else link.removeAttribute("aria-current")
  }
  window.scrollTo(0, scroll)
  if (isFirst) isFirst = false
  else focusOn(main.querySelector("h1") ?? main, view.title)
}

/** Puts the focus on a heading, and announces a new view. */
export function focusOn(heading, title) {
  heading.tabIndex = -1
  heading.focus({ preventScroll: true })
  if (title) announce(title)
}

function followLink(event) {
  const link = event.target.closest?.("a[href]")
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  const url = new URL(link.href)
  if (url.origin !== location.origin || link.target || link.hasAttribute("download")) return
  if (url.hash && url.pathname === location.pathname) return
  if (!routes.some(it => it.pattern.test(url.pathname))) return
  event.preventDefault()
  go(url.pathname + url.search)
}

/** Starts to handle links and the history, and shows the first view. */
export function start() {
  history.scrollRestoration = "manual"
  document.addEventListener("click", followLink)
  // A reload keeps the place, also one by a phone that has ended the tab meanwhile: such a one has no other event.
  addEventListener("scrollend", remember)
  // A link to a part of the page has no state and changes no view.
  addEventListener("popstate", ({ state }) => { if (state) render(state.scroll) })
  return render(history.state?.scroll)
}
