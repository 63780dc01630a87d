import { client } from "./client.js"
import { h, svg, icon, time, plural } from "./dom.js"
import { attempt } from "./messages.js"

/**
 * The sync button: a cloud icon that shows the state of syncing, and a panel below it that describes the state. The
 * user sees whether everything is on the server, changes wait, or changes need a decision.
 */

const marks = { idle: "tick", syncing: "turn", offline: "cross", error: "mark" }

/** The text for a state, for the button's label and the panel. */
export function phrase({ phase, waiting, stuck, error, mode, quiet, intercepted }) {
  if (stuck) return `${plural(stuck, "change")} ${stuck === 1 ? "needs" : "need"} you`
  if (phase === "syncing") return "Bringing everything up to date"
  if (phase === "offline" && intercepted) return "Something else answers in the server's place"
  if (phase === "offline") return waiting ? `Offline: ${plural(waiting, "change")} will be sent later` : "Offline: what you keep is here"
  if (phase === "error") return error ?? "Syncing does not work right now"
  if (waiting) return mode === "manual" ? `${plural(waiting, "change")} to be sent` : `Sending ${plural(waiting, "change")}`
  if (quiet) return "Not live: what others change comes a little later"
  return "Everything is up to date"
}

function cloud({ phase, live, quiet }) {
  const look = quiet && phase === "idle" ? "mark" : marks[phase] ?? "tick"
  const mark = svg("path", { d: icon(look).firstChild.getAttribute("d"), class: phase === "syncing" ? "turning" : null })
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", "data-phase": phase, "data-live": String(live) },
    svg("path", { d: icon("cloud").firstChild.getAttribute("d") }), mark)
}

function sheetContent(state) {
  const mode = (value, text) => h("label.check",
    h("input", { type: "radio", name: "mode", checked: state.mode === value, onchange: () => attempt(() => client.setMode(value)) }), text)
  return [
    h("h2", "Syncing"),
    h("p", phrase(state) + "."),
    state.phase === "syncing" && state.total
      ? h("progress", { max: state.total, value: Math.min(state.done, state.total), "aria-label": "Progress" }) : null,
    h("p.muted.small", state.lastSync ? ["Last time: ", time(state.lastSync)] : "Not synced yet."),
    h("fieldset.modes", h("legend.label", "When"),
      mode("continuous", "At once, whenever there is a network"), mode("manual", "Only when I press the button")),
    state.intercepted ? h("p", h("a", { href: "/?network", target: "_self" }, "Open its page")) : null,
    h("div.row",
      h("button.main", { type: "button", disabled: state.phase === "syncing", onclick: () => attempt(() => client.syncNow()) }, "Sync now"),
      h("a.button", { href: "/outbox" }, "Your changes"))
  ].filter(Boolean)
}

/** @returns {HTMLElement[]} The button and its panel. */
export function syncButton() {
  const sheet = h("div.sheet.stack", { id: "sync-sheet", hidden: true, role: "group", "aria-label": "Syncing" })
  const button = h("button", { type: "button", "aria-expanded": "false", "aria-controls": "sync-sheet" })
  const set = isOpen => {
    sheet.hidden = !isOpen
    button.setAttribute("aria-expanded", String(isOpen))
  }
  let last = ""
  const show = () => {
    const state = client.sync
    const look = JSON.stringify(state)
    if (look === last) return
    last = look
    const count = state.stuck || state.waiting
    button.replaceChildren(cloud(state), ...(count ? [h("span", { class: state.stuck ? "spot bad" : "spot", "aria-hidden": "true" }, count)] : []))
    button.setAttribute("aria-label", `Syncing: ${phrase(state)}`)
    // Keep the focus while the content of the panel is replaced.
    const focused = sheet.contains(document.activeElement) ? [...sheet.querySelectorAll("input, button, a")].indexOf(document.activeElement) : -1
    sheet.replaceChildren(...sheetContent(state))
    if (focused >= 0) sheet.querySelectorAll("input, button, a")[focused]?.focus()
  }
  button.addEventListener("click", () => set(sheet.hidden))
  document.addEventListener("click", event => { if (!event.composedPath().includes(sheet.parentElement) || event.target.closest("a")) set(false) })
  document.addEventListener("keydown", event => {
    if (event.key !== "Escape" || sheet.hidden) return
    set(false)
    button.focus()
  })
  client.addEventListener("sync", show)
  show()
  return [button, sheet]
}
