import { client } from "./client.js"
import { h, labelled } from "./dom.js"
import { nameOf } from "./facts.js"
import { ask, attempt, announce } from "./messages.js"
import { annotation, joined } from "./offline/actions.js"
import { t } from "./texts.js"

/**
 * Asks for the user's own note and tags on a bookmark, and keeps them. What is typed stays in this browser until it is kept
 * or given up.
 */
export async function annotate(bookmark) {
  const now = annotation(bookmark.hotel), name = nameOf(bookmark.hotel), typed = `${client.session.id} own ${bookmark.id}`
  const kept = JSON.parse(localStorage.getItem(typed)), { note, tags } = kept ? joined(kept[0], now, kept[1]) : now
  const text = h("textarea", { id: "my-note", rows: 5, maxlength: 4000, value: note })
  const names = h("input", { id: "my-tags", value: tags.join(", "), maxlength: 500, "aria-describedby": "tags-rule" })
  const said = () => ({ note: text.value.trim(), tags: [...new Set(names.value.split(",").map(tag => tag.trim()).filter(Boolean))] })
  const yes = await ask({
    title: name, text: t.onlyYou, yes: t.keep,
    body: h("div.stack", { oninput: () => localStorage.setItem(typed, JSON.stringify([now, said()])) }, labelled(t.yourNote, text),
      labelled(t.yourTags, names, h("p.hint", { id: "tags-rule" }, t.tagsRule)))
  })
  if (yes === false) localStorage.removeItem(typed)
  if (!yes) return
  await attempt(async () => {
    await client.annotate(bookmark.id, said())
    localStorage.removeItem(typed)
    announce(t.noteKept(name))
  })
}
