import { card } from "./cards.js"
import { client, follow } from "./client.js"
import { h, icon, time } from "./dom.js"
import { nameOf } from "./facts.js"
import { head, listPath, notePath } from "./list-head.js"
import { markdown } from "./markdown.js"
import { attempt, toast } from "./messages.js"
import { personName } from "./people.js"
import { go, rewrite } from "./router.js"
import { empty, waits } from "./states.js"
import { arrange } from "./tiles.js"

/** One list: its hotels and notes. A reader sees no controls to change it. */
export async function show({ id }, signal) {
  const node = h("div")
  let editing = false, title = ""
  const parts = { head: h("div"), about: h("div.section"), hotels: h("section.section", { "aria-label": "Hotels" }), notes: h("section.section") }
  let known = new Map()
  const maker = noteMaker(id)

  async function renew() {
    const list = await client.list(id)
    const [bookmarks, notes] = await Promise.all([client.bookmarks({ list: list.id }), client.notes(list.id)])
    if (signal.aborted) return
    if (list.id !== id) rewrite(listPath(list.id))
    title = list.title
    const mayWrite = list.role !== "reader"
    parts.head.replaceChildren(...head(list, "hotels"))
    if (!editing) parts.about.replaceChildren(about(list, mayWrite))
    showHotels(list, bookmarks, mayWrite)
    if (!parts.notes.childElementCount) parts.notes.append(h("h2", "Notes"), h("div"), maker)
    parts.notes.children[1].replaceChildren(notesPart(list, notes))
    maker.hidden = !mayWrite
  }

  function about(list, mayWrite) {
    const change = () => {
      editing = true
      parts.about.replaceChildren(editor(list))
      parts.about.querySelector("input").focus()
    }
    return h("div.stack", list.markdown ? markdown(list.markdown) : mayWrite ? h("p.muted", "No description yet.") : null,
      mayWrite ? h("button.quiet", { onclick: change }, "Change title, days and description") : null)
  }

  function editor(list) {
    const name = h("input", { id: "list-title", dir: "auto", required: true, maxlength: 200, value: list.title })
    const words = h("textarea", { id: "list-words", value: list.markdown })
    const day = (id, value) => h("input", { id, type: "date", value, max: "9999-12-31" })
    const from = day("list-from", list.from), to = day("list-to", list.to)
    const end = () => { editing = false; return renew() }
    return h("form.stack.panel.narrow", {
      onsubmit: event => {
        event.preventDefault()
        to.setCustomValidity(from.value && to.value && to.value < from.value ? "The last day is before the first." : "")
        if (!to.reportValidity()) return to.setCustomValidity("")
        attempt(async () => {
          await client.changeList(list.id, { title: name.value.trim(), markdown: words.value, from: from.value || null, to: to.value || null })
          await end()
        })
      }
    }, h("div", h("label", { for: "list-title" }, "Title"), name),
    h("div.row", h("div", h("label", { for: "list-from" }, "First day"), from), h("div", h("label", { for: "list-to" }, "Last day"), to)),
    h("div", h("label", { for: "list-words" }, "Description"), words,
      h("p.hint", "# Heading, **strong**, * list item, [link](https://…)")),
    h("div.row", h("button.main", "Save"), h("button", { onclick: end }, "Cancel")))
  }

  function showHotels(list, bookmarks, mayWrite) {
    if (!bookmarks.length) {
      known = new Map()
      return parts.hotels.replaceChildren(empty("No hotels yet", mayWrite ? "Find a hotel and put it on this list." : "No member has put a hotel here yet.",
        h("a.button.main", { href: "/" }, "Find a hotel")))
    }
    const next = new Map(bookmarks.map(bookmark => {
      const look = JSON.stringify([bookmark, mayWrite]), same = known.get(bookmark.id)
      return [bookmark.id, same?.look === look ? same : { look, node: listCard(list, bookmark, mayWrite) }]
    }))
    known = next
    const rows = parts.hotels.querySelector("ul.hotels") ?? h("ul.hotels")
    arrange(rows, [...next.values()].map(it => it.node))
    if (rows.parentNode !== parts.hotels) parts.hotels.replaceChildren(rows)
  }

  follow(["lists", id], signal, renew)
  client.addEventListener("change", async event => {
    // A list that was made offline gets another id when it is delivered.
    const list = await client.list(id).catch(() => null)
    if (list && event.detail.places.includes(list.id)) renew().catch(() => {})
    if (!list && event.detail.places.includes("lists")) gone()
  }, { signal })

  function gone() {
    if (signal.aborted) return
    node.replaceChildren(empty("This list is gone", `“${title}” has ended, or you are not on it any more.`, h("a.button", { href: "/lists" }, "All lists")))
  }
  await renew()
  node.append(...Object.values(parts))
  return { title, place: "lists", node }
}

function listCard(list, bookmark, mayWrite) {
  const hotel = { ...bookmark.hotel, id: bookmark.id }, name = nameOf(hotel)
  const remove = () => attempt(async () => {
    const entry = await client.unbookmark(bookmark.id, { list: list.id })
    toast(`${name} is off the list.`, entry.undoable ? { label: "Undo", run: () => attempt(() => client.undo(entry.id)) } : undefined)
  })
  return card(hotel, {
    keep: false,
    signs: [bookmark.draft ? h("span.chip.draft", "Draft: only you see it") : null, waits(bookmark),
      bookmark.addedBy ? h("span.small.muted", `by ${adder(list, bookmark.addedBy)}`) : null].filter(Boolean),
    end: mayWrite ? [
      bookmark.draft ? h("button", { onclick: () => attempt(() => client.publish(list.id, { kind: "bookmark", id: bookmark.id })), "aria-label": `Show ${name} to everybody` }, "Show to everybody") : null,
      h("button", { "aria-label": `Take ${name} off the list`, onclick: remove }, "Take off")
    ].filter(Boolean) : []
  })
}

const adder = (list, username) => personName(list.members.find(member => member.username === username) ?? { username })

function notesPart(list, notes) {
  if (!notes.length) return h("p.muted", "No notes yet.")
  return h("ul.rows", notes.map(note => h("li", h("div.what",
    h("p", h("a", { href: notePath(list.id, note.title), dir: "auto" }, note.title), note.draft ? [" ", h("span.chip.draft", "Draft")] : null,
      " ", waits(note)),
    h("p.muted.small", "Changed ", time(note.updatedAt))))))
}

/** The form for a new note. It is created once, so that the typed text stays when the list changes. */
function noteMaker(list) {
  const name = h("input", { id: "note-title", name: "title", required: true, maxlength: 200, placeholder: "What to pack", autocomplete: "off" })
  return h("form.form.section", {
    "aria-label": "New note", onsubmit: event => {
      event.preventDefault()
      if (name.value.trim()) go(`${notePath(list, name.value.trim())}?edit=1`)
    }
  }, h("div", h("label", { for: "note-title" }, "A new note"), name), h("div.row", h("button", icon("plus"), "Write it")))
}
