import { client, follow } from "./client.js"
import { time } from "./dates.js"
import { h, refill } from "./dom.js"
import { nameOf } from "./facts.js"
import { announce, attempt } from "./messages.js"
import { empty } from "./states.js"
import { head, notePath } from "./list-head.js"
import { t } from "./texts.js"

/** The user's own drafts of a list, which no other member sees yet. */
export async function show({ id }, signal) {
  const node = h("div")
  let title = ""
  async function renew() {
    const list = await client.list(id)
    const [drafts, bookmarks] = await Promise.all([client.drafts(list.id), client.bookmarks({ list: list.id })])
    if (signal.aborted) return
    title = list.title
    const names = new Map(bookmarks.map(bookmark => [bookmark.id, nameOf({ ...bookmark.hotel, id: bookmark.id })]))
    refill(node, ...head(list, "drafts"), drafts.length
      ? h("ul.rows.narrow", drafts.map(draft => row(list, draft, names)))
      : empty(t.noDrafts, t.draftsText))
  }
  function row(list, draft, names) {
    const name = draft.title ?? names.get(draft.id) ?? draft.id
    return h("li", null,
      h("div.what", h("p", t.draftOf(draft.deleted, draft.title, draft.title ? h("a", { href: notePath(list.id, draft.title) }, name) : h("strong", name))),
      h("p.muted.small", time(draft.updatedAt))),
      h("button.main", { "aria-label": t.showName(name), onclick: () => attempt(async () => {
        await client.settled((await client.publish(list.id, draft)).id)
        announce(t.isShown(name))
      }) }, t.showAllMembers),
      h("button.danger", { "aria-label": t.throwName(name), onclick: () => attempt(() => client.discardDraft(list.id, draft)) }, t.throwAway))
  }
  follow([id, "lists"], signal, renew)
  await renew()
  return { title: t.draftsOf(title), place: "lists", node }
}
