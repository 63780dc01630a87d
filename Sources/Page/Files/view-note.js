import { client, follow } from "./client.js"
import { time } from "./dates.js"
import { h, labelled, refill } from "./dom.js"
import { typedKey } from "./list-head.js"
import { markdown, ticked } from "./markdown.js"
import { announce, ask, attempt, settle, toast } from "./messages.js"
import { segment } from "./offline/server.js"
import { go, rewrite } from "./router.js"
import { empty, waits } from "./states.js"
import { t } from "./texts.js"

/** A note of a list: reading, writing, drafts, publishing, and conflicts with another member's change. */
export async function show({ id, title, query }, signal) {
  const node = h("div"), path = `/lists/${segment(id)}`
  const typed = await typedKey(id, title)
  let editing = query.get("edit") === "1" || typed in localStorage, chosen, watch

  async function renew() {
    // Whoever writes keeps the words when the list is gone.
    const isOpen = editing && watch, gone = error => { if (!isOpen) throw error }
    const [list, notes, entries] = await Promise.all([client.list(id).catch(gone), client.notes(id), client.outbox()])
    if (signal.aborted) return
    const note = notes.find(it => it.title === title)
    if (isOpen) return watch(note, list)
    const mayWrite = list.role !== "reader"
    const refused = mayWrite && entries.findLast(it => it.state === "rejected" && it.subject === title && it.list === list.id && it.theirs !== undefined)
    const former = chosen
    chosen = refused?.id
    // Keep the user's merge of a conflict when the list changes.
    if (chosen && chosen === former) return
    const top = [h("a.crumb", { href: path, dir: "auto" }, list.title), h("h1", { dir: "auto" }, title)]
    if (refused) return refill(node, ...top, conflict(list, refused, note))
    if (editing && (mayWrite || typed in localStorage)) return refill(node, ...top, editor(list, note))
    if (!note) return refill(node, ...top, empty(t.noNote, t.noNoteText), mayWrite ? h("button.main", { onclick: edit }, t.write) : "")
    refill(node, ...top, ...reading(list, note, mayWrite))
  }

  const edit = async () => { editing = true; await renew(); node.querySelector("textarea")?.focus() }
  const done = () => {
    localStorage.removeItem(typed)
    // Without the list there is no note to show.
    return end().catch(() => go("/lists"))
  }
  const end = () => {
    editing = typed in localStorage
    watch = undefined
    rewrite(location.pathname)
    return renew()
  }

  function reading(list, note, mayWrite) {
    return [
      h("p.row.muted.small", h("span", t.changed(time(note.updatedAt))), note.draft ? h("span.chip.draft", t.draftOnly) : null,
        waits(note)),
      h("div.section", markdown(note.markdown, undefined, mayWrite && tick(list, note))),
      mayWrite ? h("div.row.section", h("button.main", { onclick: edit }, t.change),
        note.draft ? h("button", { onclick: () => publish(list) }, t.showAllMembers) : null,
        h("button.danger", { onclick: () => remove(list, note) }, note.draft ? t.throwDraft : t.remove)) : null
    ].filter(Boolean)
  }

  const tick = (list, note) => (number, was) => attempt(() => client.putNote(list.id, title, note.markdown = ticked(note.markdown, number, was),
    { draft: !!note.draft, base: note.rev ?? null })).then(renew)

  const publish = list => attempt(async () => {
    await client.settled((await client.publish(list.id, { title })).id)
    toast(t.allSee)
  }).then(renew)

  const remove = (list, note) => attempt(async () => {
    if (!await ask({ title: t.removeNoteAsk, text: t.removeNoteText, yes: t.remove, danger: true })) return
    await (note.draft ? client.discardDraft(list.id, note) : client.deleteNote(list.id, title, { base: note.rev ?? null }))
    await go(path)
  })

  function editor(list, note) {
    const kept = JSON.parse(localStorage.getItem(typed)), changed = h("div", { role: "status" })
    const { began, after } = kept ?? { began: note?.markdown ?? "", after: note?.entry ?? null }
    let base = kept ? kept.base : note?.rev ?? null
    const words = h("textarea", { id: "words", value: kept?.text ?? began, rows: 16, oninput: () => {
      if (!preview.hidden) show()
      localStorage.setItem(typed, JSON.stringify({ text: words.value, began, base, after }))
    } })
    const preview = h("div.panel", { hidden: true, "aria-label": t.howItLooks, role: "region" })
    const show = () => refill(preview, markdown(words.value))
    const toggle = h("button", { "aria-expanded": "false", onclick: () => { preview.hidden = !preview.hidden; toggle.setAttribute("aria-expanded", !preview.hidden); show() } }, t.preview)
    const save = isDraft => attempt(async () => {
      await client.putNote(list.id, title, words.value, { draft: isDraft, base, after })
      announce(isDraft ? t.draftKept : t.saved)
      await done()
    })
    watch = (now, present) => {
      const why = !present ? t.listEnded(list.title) : present.role === "reader" ? t.mayRead : ""
      if (why) return refill(changed, h("p.note.bad", why))
      if (note?.draft || (now?.pending ? now.markdown === began : (now?.rev ?? null) === base)) return refill(changed)
      // The user's own change was delivered, or others have changed it back.
      if (now?.markdown === began) base = now.rev
      refill(changed, now?.markdown === began ? "" : now ? h("details.note", h("summary", t.noteChanged(now.pending)),
        version(t.asAllSee, now.markdown, began)) : h("p.note", t.noteRemoved))
    }
    watch(note, list)
    return h("form.stack.section.narrow", { onsubmit: () => save(!!note?.draft) },
      labelled(t.note, words, h("p.hint", t.markdownNote)), changed, preview,
      h("div.row", h("button.main", note?.draft ? t.saveDraft : t.saveForAll),
        note?.draft ? null : h("button", { onclick: () => save(true) }, t.keepDraft), toggle, h("button.quiet", { onclick: done }, t.cancel)))
  }

  function conflict(list, entry, note) {
    settle(entry.id)
    const { theirs, body } = entry, isDraft = body && entry.draft, mine = (body ?? note)?.markdown
    const words = h("textarea", { id: "merged", value: mine, rows: 12 })
    const keep = text => attempt(async () => {
      if (text !== null) await client.putNote(list.id, title, text, { draft: isDraft, base: theirs?.rev ?? null, after: null })
      await client.drop(entry.id)
      if (note?.draft && !isDraft) await client.discardDraft(list.id, note)
      await end()
    })
    return h("div.stack.section", h("p.note.bad", { role: "alert" }, t.bothChanged),
      h("div.versions", version(t.asItWas, entry.was), version(isDraft ? t.draft : t.theirs, theirs?.markdown, mine), version(t.mine, mine, theirs?.markdown)),
      labelled(t.shouldSay, words),
      h("div.row", h("button.main", { onclick: () => keep(words.value) }, t.saveThis), h("button", { onclick: () => keep(null) }, t.keepTheirs)))
  }

  follow([id, "lists"], signal, renew)
  await renew()
  return { title, place: "lists", node }
}

/** A text of the note. Its lines that another text does not have are marked. */
function version(label, text = "", other = text) {
  const known = new Set(other.split("\n"))
  return h("div", h("h3", label), h("pre", { tabindex: "0", "aria-label": label },
    text ? text.split("\n").map(line => [known.has(line) ? line : h("mark", line), "\n"]) : t.empty))
}
