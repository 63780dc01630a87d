import { client } from "./client.js"
import { h, labelled } from "./dom.js"
import { nameOf } from "./facts.js"
import { titleField } from "./list-head.js"
import { ask, attempt, toast } from "./messages.js"
import { t } from "./texts.js"

/** The lists on which a hotel is, of those to which the user may write, and whether it is on each. */
export async function listsOf(id) {
  const lists = (await client.lists()).filter(list => list.role !== "reader")
  return Promise.all(lists.map(async list => ({
    list, isOn: (await client.bookmarks({ list: list.id })).some(bookmark => bookmark.id === id)
  })))
}

/** Asks on which lists a hotel is to be, and puts it there, or takes it off. */
export async function putOnLists(hotel) {
  const name = nameOf(hotel), known = await listsOf(hotel.id)
  const boxes = known.map(({ list, isOn }) => ({ list, isOn, box: h("input", { type: "checkbox", checked: isOn }) }))
  const title = titleField({ id: "other-list", required: false, placeholder: t.tripName })
  const yes = await ask({
    title: name, text: known.length ? t.whichLists : t.putOnShared, yes: t.keep,
    body: h("div.stack", boxes.map(({ list, box }) => h("label.check", box, h("span", { dir: "auto" }, list.title))),
      labelled(t.newListName, title))
  })
  if (!yes) return false
  return await attempt(async () => {
    for (const { list, isOn, box } of boxes) {
      if (box.checked && !isOn) await client.bookmark(hotel, { list: list.id })
      if (!box.checked && isOn) await client.unbookmark(hotel.id, { list: list.id })
    }
    const text = title.value.trim()
    if (text) await client.bookmark(hotel, { list: (await client.makeList({ title: text })).list })
    const on = [...boxes.filter(({ box }) => box.checked).map(({ list }) => list.title), ...(text ? [text] : [])]
    toast(on.length ? t.isOn(name, on.map(t.quote).join(", ")) : t.isOnNone(name))
    return true
  })
}
