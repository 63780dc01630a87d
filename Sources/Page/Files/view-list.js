import { card } from "./cards.js"
import { client, follow } from "./client.js"
import { time } from "./dates.js"
import { h, icon, labelled, refill } from "./dom.js"
import { nameOf } from "./facts.js"
import { head, listPath, notePath, titleField, typedKey } from "./list-head.js"
import { markdown } from "./markdown.js"
import { attempt, toast } from "./messages.js"
import { personName } from "./people.js"
import { photosOf } from "./photos.js"
import { focusOn, go, rewrite } from "./router.js"
import { empty, waits } from "./states.js"
import { t } from "./texts.js"
import { arrange } from "./tiles.js"

/** One list: its hotels and notes. A reader sees no controls to change it. */
export async function show({ id }, signal) {
  const node = h("div"), typed = await typedKey(id)
  let editing = false, title = ""
  const parts = { head: h("div"), about: h("div.section"), hotels: h("section.section", { "aria-label": t.hotels }), notes: h("section.section") }
  let known = new Map()
  const maker = noteMaker(id)

  async function renew() {
    const list = await client.list(id)
    const [bookmarks, notes] = await Promise.all([client.bookmarks({ list: list.id }), client.notes(list.id)])
    if (signal.aborted) return
    if (list.id !== id) rewrite(listPath(list.id))
    title = list.title
    const mayWrite = list.role !== "reader"
    refill(parts.head, ...head(list, "hotels"))
    if (!editing) {
      editing = mayWrite && typed in localStorage
      refill(parts.about, editing ? editor(list) : about(list, mayWrite))
    }
    const had = parts.hotels.contains(document.activeElement)
    showHotels(list, bookmarks, mayWrite)
    // The pressed button has gone with its hotel.
    if (had && !parts.hotels.contains(document.activeElement)) focusOn(parts.head.querySelector("h1"))
    if (!parts.notes.childElementCount) parts.notes.append(h("h2", t.notes), h("div"), maker)
    refill(parts.notes.children[1], notesPart(list, notes))
    maker.hidden = !mayWrite
  }

  function about(list, mayWrite) {
    const change = () => {
      editing = true
      refill(parts.about, editor(list))
      parts.about.querySelector("input").focus()
    }
    return h("div.stack", list.markdown ? markdown(list.markdown) : mayWrite ? h("p.muted", t.noDescription) : null,
      mayWrite ? h("button.quiet", { onclick: change }, t.editList) : null)
  }

  function editor(now) {
    const [list, said] = JSON.parse(localStorage.getItem(typed)) ?? [now, now]
    const name = titleField({ id: "list-title", value: said.title })
    const words = h("textarea", { id: "list-words", value: said.markdown })
    const day = (id, value) => h("input", { id, type: "date", value, max: "9999-12-31" })
    const from = day("list-from", said.from), to = day("list-to", said.to)
    const saying = () => ({ title: name.value.trim(), markdown: words.value, from: from.value || null, to: to.value || null })
    const end = () => {
      localStorage.removeItem(typed)
      editing = false
      return renew()
    }
    return h("form.stack.panel.narrow", {
      oninput: () => localStorage.setItem(typed, JSON.stringify([list, saying()])),
      onsubmit: () => {
        to.setCustomValidity(from.value && to.value && to.value < from.value ? t.daysWrong : "")
        if (!to.reportValidity()) return to.setCustomValidity("")
        attempt(async () => {
          const body = saying()
          // What was left as it is stays as others have it.
          for (const it in body) if (body[it] === (list[it] ?? null)) delete body[it]
          if (body.markdown !== undefined) body.markdownSeen = list.markdown
          if (Object.keys(body)[0]) await client.changeList(list.id, body)
          await end()
        })
      }
    }, labelled(t.title, name),
    h("div.row", labelled(t.firstDay, from), labelled(t.lastDay, to)),
    labelled(t.description, words,
      h("p.hint", t.markdown)),
    h("div.row", h("button.main", t.save), h("button", { onclick: end }, t.cancel)))
  }

  function showHotels(list, bookmarks, mayWrite) {
    if (!bookmarks.length) {
      known = new Map()
      return refill(parts.hotels, empty(t.noHotels, mayWrite ? t.putHere : t.nobodyPut,
        mayWrite ? h("a.button.main", { href: "/" }, t.findHotel) : ""))
    }
    const next = new Map(bookmarks.map(bookmark => {
      const look = JSON.stringify([bookmark, mayWrite]), same = known.get(bookmark.id)
      return [bookmark.id, same?.look === look ? same : { look, node: listCard(list, bookmark, mayWrite) }]
    }))
    known = next
    const rows = parts.hotels.querySelector("ul.hotels") ?? h("ul.hotels")
    arrange(rows, [...next.values()].map(it => it.node))
    if (rows.parentNode !== parts.hotels) refill(parts.hotels, rows)
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
    refill(node, empty(t.listGone, t.listEnded(title), h("a.button", { href: "/lists" }, t.allLists)))
  }
  await renew()
  node.append(...Object.values(parts))
  return { title, place: "lists", node }
}

function listCard(list, bookmark, mayWrite) {
  const hotel = { ...bookmark.hotel, id: bookmark.id }, name = nameOf(hotel)
  const remove = () => attempt(async () => {
    const entry = await client.unbookmark(bookmark.id, { list: list.id })
    toast(t.offList(name), entry.undoable ? { label: t.undo, run: () => attempt(() => client.undo(entry.id)) } : undefined)
  })
  return card(hotel, {
    keep: false,
    signs: [bookmark.draft ? h("span.chip.draft", t.draftOnly) : null, waits(bookmark),
      bookmark.addedBy ? h("span.small.muted", t.by(adder(list, bookmark.addedBy))) : null].filter(Boolean),
    photos: photosOf(bookmark, name, { list: list.id, mayWrite }),
    end: mayWrite ? [
      bookmark.draft ? h("button", { onclick: () => attempt(() => client.publish(list.id, { kind: "bookmark", id: bookmark.id })), "aria-label": t.showName(name) }, t.showAllMembers) : null,
      h("button", { "aria-label": t.takeNameOff(name), onclick: remove }, t.takeOff)
    ].filter(Boolean) : []
  })
}

const adder = (list, username) => personName(list.members.find(member => member.username === username) ?? { username })

function notesPart(list, notes) {
  if (!notes.length) return h("p.muted", t.noNotes)
  return h("ul.rows", notes.map(note => h("li", h("div.what",
    h("p", h("a", { href: notePath(list.id, note.title), dir: "auto" }, note.title), note.draft ? [" ", h("span.chip.draft", t.draft)] : null,
      " ", waits(note)),
    h("p.muted.small", t.changed(time(note.updatedAt)))))))
}

/** The form for a new note. It is created once, so that the typed text stays when the list changes. */
function noteMaker(list) {
  const name = titleField({ id: "note-title", placeholder: t.noteName })
  return h("form.form.section", {
    "aria-label": t.newNoteName, onsubmit: () => {
      if (name.value.trim()) go(`${notePath(list, name.value.trim())}?edit=1`)
    }
  }, labelled(t.newNoteName, name), h("div.row", h("button", icon("plus"), t.write)))
}
