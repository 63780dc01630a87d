import { client } from "./client.js"
import { daysOf } from "./dates.js"
import { h } from "./dom.js"
import { segment } from "./offline/server.js"
import { waits } from "./states.js"
import { t } from "./texts.js"

/** What the pages of a list share: their paths, their heading, and where what is typed is kept. */

export const listPath = id => `/lists/${segment(id)}`

/** The path of a list's note. */
export const notePath = (list, title) => `${listPath(list)}/notes/${segment(title)}`

/**
 * The key under which this browser keeps what is typed in a note of a list, or about the list itself, until it is saved or
 * given up: a link, a reload or a crash loses nothing.
 */
export async function typedKey(id, title = "") {
  const { id: present } = await client.list(id), key = list => `${client.session.id} ${list} ${title}`
  // What was typed on a list that was made offline is under the id that the list had then.
  for (const old of Object.keys(localStorage)) {
    const list = old.split(" ")[1]
    if (list === present || old !== key(list) || (await client.list(list).catch(() => ({}))).id !== present) continue
    localStorage[key(present)] ??= localStorage[old]
    localStorage.removeItem(old)
  }
  return key(present)
}

/** A field for a title or a name. Its limit is the server's, in bytes: a longer title would be shown first and refused later. */
export const titleField = (props, most = 256) => h("input", { required: true, autocomplete: "off", ...props, oninput: ({ target }) =>
  target.setCustomValidity(new TextEncoder().encode(target.value).length > most ? t.tooLong : "") })

/** The heading and tabs of each page of a list. */
export function head(list, current) {
  const path = listPath(list.id)
  const tab = (name, href, text) => h("a", { href, "aria-current": name === current ? "page" : null }, text)
  return [
    h("a.crumb", { href: "/lists" }, t.lists), h("h1", { dir: "auto" }, list.title),
    daysOf(list) ? h("p.lead", daysOf(list)) : null, list.pending ? h("p.row", waits(list)) : null,
    h("nav.tabs", { "aria-label": t.thisList }, tab("hotels", path, t.hotelsAndNotes), tab("members", `${path}/members`, t.people), tab("history", `${path}/history`, t.history),
      list.role === "reader" ? null : tab("drafts", `${path}/drafts`, t.drafts))
  ].filter(Boolean)
}
