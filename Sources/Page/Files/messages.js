import { h } from "./dom.js"
import { reason } from "./reasons.js"
import { t } from "./texts.js"

/** Messages to the user: to screen readers, at the bottom of the page, and in dialogs. */

let saying

/** Announces a text to screen readers; a repeated text is announced again. */
export function announce(text) {
  const line = document.getElementById("announcer")
  clearTimeout(saying)
  line.textContent = ""
  saying = setTimeout(() => { line.textContent = text }, 60)
}

/** How long a message stays, in milliseconds. */
const shown = { plain: 6000, withAction: 12000 }

/**
 * Shows a message for some seconds, in place of the same one. It stays while the pointer or the focus is on it.
 * @param {string} text
 * @param {{label: string, run: () => void, entry?: number}} [action] `entry` is the id of the outbox's entry that it is about.
 */
export function toast(text, action) {
  const close = () => box.remove()
  let end
  const wait = () => { clearTimeout(end); end = setTimeout(close, action ? shown.withAction : shown.plain) }
  const hold = () => clearTimeout(end)
  const box = h("div.toast", { "data-entry": action?.entry, onmouseenter: hold, onmouseleave: wait, onfocusin: hold, onfocusout: wait },
    h("p", text),
    action ? h("button", { onclick: () => { close(); action.run() } }, action.label) : null)
  const place = document.getElementById("toasts")
  // Two hotels of one name have an undo each.
  if (action?.label !== t.undo) for (const it of [...place.children]) if (it.textContent === box.textContent) it.remove()
  while (place.childElementCount > 2) place.firstElementChild.remove()
  place.append(box)
  wait()
  announce(action ? t.possible(text, action.label) : text)
}

/** Removes the message about an entry of the outbox: the view shows the entry. */
export const settle = entry => document.querySelector(`#toasts [data-entry="${entry}"]`)?.remove()

/**
 * Asks before an action that cannot be undone.
 * @param {{title: string, text: string, yes: string, danger?: boolean, body?: Node}} question
 * @returns {Promise<boolean | undefined>} undefined if the dialog was closed without an answer, also by another view.
 */
export function ask({ title, text, yes, danger = false, body }) {
  return new Promise(resolve => {
    const dialog = h("dialog", { "aria-labelledby": "question", onclose: () => { dialog.remove(); resolve({ yes: true, no: false }[dialog.returnValue]) } },
      h("form", { method: "dialog" },
        h("h2", { id: "question" }, title), h("p.lead", text), body,
        h("div.row",
          // No button for the form: Enter in a field means yes.
          h("button", { autofocus: !body || danger, onclick: () => dialog.close("no") }, t.cancel),
          h("button", { value: "yes", class: danger ? "danger" : "main" }, yes))))
    document.body.append(dialog)
    dialog.showModal()
  })
}

/** Runs a user's action and shows the reason if it fails. @returns its result, undefined after a failure */
export async function attempt(work) {
  try {
    return await work()
  } catch (error) {
    toast(reason(error))
    return undefined
  }
}
