import { client } from "./client.js"
import { time } from "./dates.js"
import { h, icon, refill, svg } from "./dom.js"
import { attempt } from "./messages.js"
import { reason } from "./reasons.js"
import { t } from "./texts.js"

/**
 * The sync button: a cloud icon that shows the state of syncing, and a panel below it that describes the state. The
 * user sees whether everything is on the server, changes wait, or changes need a decision.
 */

const marks = { idle: "tick", syncing: "turn", offline: "cross", error: "mark" }

/** The text for a state, for the button's label and the panel. */
export function phrase({ phase, waiting, stuck, error, code, mode, quiet, intercepted, lastSync }) {
  if (stuck) return t.needYou(stuck)
  if (phase === "syncing") return t.bringing
  if (phase === "offline" && intercepted) return t.elseAnswers
  if (phase === "offline") return waiting ? t.offlineWaiting(waiting) : t.offlineHere
  if (phase === "error") return client.session.state === "ended" ? t.sessionEnded : code === "forbidden" ? t.operatorHere : error ? reason({ code, reason: error }) : t.noSync
  if (waiting) return mode === "manual" ? t.toBeSent(waiting) : t.sending(waiting)
  if (quiet) return t.notLive
  // What others have changed since is not known.
  if (mode === "manual") return lastSync ? t.lastTime(time(lastSync).textContent).join("") : t.neverSynced
  return t.upToDate
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
    h("h2", t.syncing),
    h("p", phrase(state)),
    state.phase === "syncing" && state.total
      ? h("progress", { max: state.total, value: Math.min(state.done, state.total), "aria-label": t.progress }) : null,
    h("p.muted.small", state.lastSync ? t.lastTime(time(state.lastSync)) : t.neverSynced),
    h("fieldset.modes", h("legend.label", t.when),
      mode("continuous", t.atOnce), mode("manual", t.onlyPressed)),
    state.intercepted ? h("p", h("a", { href: "/?network", target: "_self" }, t.openPage)) : null,
    h("div.row",
      h("button.main", { onclick: () => attempt(() => client.syncNow()) }, t.syncNow),
      h("a.button", { href: "/outbox" }, t.yourChanges))
  ].filter(Boolean)
}

/** @returns {HTMLElement[]} The button and its panel. */
export function syncButton() {
  const sheet = h("div.sheet.stack", { id: "sync-sheet", hidden: true, role: "group", "aria-label": t.syncing })
  const button = h("button", { type: "button", "aria-expanded": "false", "aria-controls": "sync-sheet" })
  const set = isOpen => {
    sheet.hidden = !isOpen
    button.setAttribute("aria-expanded", isOpen)
  }
  let last = ""
  const show = () => {
    const state = client.sync
    const look = JSON.stringify(state)
    if (look === last) return
    last = look
    const count = state.stuck || state.waiting
    refill(button, cloud(state), ...(count ? [h("span", { class: state.stuck ? "spot bad" : "spot", "aria-hidden": "true" }, count)] : []))
    button.setAttribute("aria-label", `${t.syncing}: ${phrase(state)}`)
    // Keep the focus while the content of the panel is replaced.
    const focused = sheet.contains(document.activeElement) ? [...sheet.querySelectorAll("input, button, a")].indexOf(document.activeElement) : -1
    refill(sheet, ...sheetContent(state))
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
