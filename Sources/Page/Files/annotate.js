import { client } from "./client.js"
import { h } from "./dom.js"
import { nameOf } from "./facts.js"
import { ask, attempt, announce } from "./messages.js"
import { annotation } from "./offline/actions.js"
import { t } from "./texts.js"

/** Asks for the user's own note and tags on a bookmark, and keeps them. */
export async function annotate(bookmark) {
  const { note, tags } = annotation(bookmark.hotel), name = nameOf(bookmark.hotel)
  const text = h("textarea", { id: "my-note", rows: 5, maxlength: 4000, dir: "auto", value: note })
  const names = h("input", { id: "my-tags", value: tags.join(", "), maxlength: 500, dir: "auto", "aria-describedby": "tags-rule" })
  const yes = await ask({
    title: name, text: t.onlyYou, yes: t.keep,
    body: h("div.stack", h("div", h("label", { for: "my-note" }, t.yourNote), text),
      h("div", h("label", { for: "my-tags" }, t.yourTags), names, h("p.hint", { id: "tags-rule" }, t.tagsRule)))
  })
  if (!yes) return
  const said = [...new Set(names.value.split(",").map(tag => tag.trim()).filter(Boolean))]
  await attempt(async () => {
    await client.annotate(bookmark.id, { note: text.value.trim(), tags: said })
    announce(t.noteKept(name))
  })
}
