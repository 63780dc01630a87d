import { client, follow } from "./client.js"
import { h, time } from "./dom.js"
import { markdown, ticked } from "./markdown.js"
import { announce, ask, attempt, toast } from "./messages.js"
import { go, rewrite } from "./router.js"
import { empty, waits } from "./states.js"

/** A note of a list: reading, writing, drafts, publishing, and conflicts with another member's change. */
export async function show({ id, title, query }, signal) {
  const node = h("div"), path = `/lists/${encodeURIComponent(id)}`, draft = { kind: "note", title }
  let editing = query.get("edit") === "1", chosen, watch

  async function renew() {
    const [list, notes, entries] = await Promise.all([client.list(id), client.notes(id), client.outbox()])
    if (signal.aborted) return
    const note = notes.find(it => it.title === title), mayWrite = list.role !== "reader"
    if (editing && watch) return watch(note)
    const refused = mayWrite && entries.findLast(it => it.state === "rejected" && it.subject === title && it.list === list.id && it.theirs !== undefined)
    const former = chosen
    chosen = refused?.id
    // Keep the user's merge of a conflict when the list changes.
    if (chosen && chosen === former) return
    const top = [h("a.crumb", { href: path, dir: "auto" }, list.title), h("h1", { dir: "auto" }, title)]
    if (refused) return node.replaceChildren(...top, await conflict(list, refused, note))
    if (editing && mayWrite) return node.replaceChildren(...top, editor(list, note))
    if (!note) return node.replaceChildren(...top, empty("No such note", "No member has written it yet, or it was removed."), mayWrite ? begin() : "")
    node.replaceChildren(...top, ...reading(list, note, mayWrite))
  }

  const begin = () => h("button.main", { onclick: edit }, "Write it")
  const edit = async () => { editing = true; await renew(); node.querySelector("textarea")?.focus() }
  const done = () => { editing = watch = undefined; rewrite(location.pathname); return renew() }

  function reading(list, note, mayWrite) {
    return [
      h("p.row.muted.small", h("span", "Changed ", time(note.updatedAt)), note.draft ? h("span.chip.draft", "Draft: only you see it") : null,
        waits(note)),
      h("div.section", markdown(note.markdown, undefined, mayWrite ? (number, was) => tick(list, note, number, was) : undefined)),
      mayWrite ? h("div.row.section", h("button.main", { onclick: edit }, "Change"),
        note.draft ? h("button", { onclick: () => publish(list) }, "Show to everybody") : null,
        h("button.danger", { onclick: () => remove(list, note) }, note.draft ? "Throw the draft away" : "Remove")) : null
    ].filter(Boolean)
  }

  const tick = (list, note, number, was) => attempt(() => client.putNote(list.id, title, ticked(note.markdown, number, was),
    { draft: Boolean(note.draft), base: note.draft ? undefined : note.rev ?? null })).then(renew)

  const publish = list => attempt(async () => {
    await client.settled((await client.publish(list.id, draft)).id)
    toast("Everybody on the list can see it now.")
  }).then(renew)

  const remove = (list, note) => attempt(async () => {
    if (!await ask({ title: "Remove this note?", text: "Its history stays, so it can be brought back.", yes: "Remove", danger: true })) return
    await (note.draft ? client.discardDraft(list.id, draft) : client.deleteNote(list.id, title))
    await go(path)
  })

  function editor(list, note) {
    const began = note?.markdown ?? "", changed = h("div", { role: "status" })
    let base = note?.draft ? undefined : note?.rev ?? null
    const words = h("textarea", { id: "words", dir: "auto", value: began, rows: 16, oninput: () => { if (!preview.hidden) show() } })
    const preview = h("div.panel", { hidden: true, "aria-label": "How it will look", role: "region" })
    const show = () => preview.replaceChildren(markdown(words.value))
    const toggle = h("button", { "aria-expanded": "false", onclick: () => { preview.hidden = !preview.hidden; toggle.setAttribute("aria-expanded", String(!preview.hidden)); show() } }, "Preview")
    const save = isDraft => attempt(async () => {
      await client.putNote(list.id, title, words.value, { draft: isDraft, base, after: note?.entry ?? null })
      announce(isDraft ? "Kept as a draft" : "Saved")
      await done()
    })
    watch = now => {
      if (base === undefined || (now?.pending ? now.markdown === began : (now?.rev ?? null) === base)) return
      // The user's own change was delivered, or others have changed it back.
      if (now?.markdown === began) base = now.rev
      changed.replaceChildren(now?.markdown === began ? "" : now ? h("details.note", h("summary", `${now.pending ? "You have changed this note in another tab" : "Somebody has changed this note"} meanwhile. Saving puts both together.`),
        version("As all see it now", now.markdown, began)) : h("p.note", "Somebody has removed this note meanwhile."))
    }
    return h("form.stack.section.narrow", { onsubmit: event => { event.preventDefault(); save(Boolean(note?.draft)) } },
      h("div", h("label", { for: "words" }, "Note"), words, h("p.hint", "# Heading, **strong**, * list item, * [ ] box to tick, [link](https://…)")), changed, preview,
      h("div.row", h("button.main", note?.draft ? "Save the draft" : "Save for everybody"),
        note?.draft ? null : h("button", { onclick: () => save(true) }, "Keep as a draft"), toggle, h("button.quiet", { onclick: done }, "Cancel")))
  }

  async function conflict(list, entry, note) {
    const { theirs } = entry, mine = (entry.body ?? note)?.markdown 
    const base = entry.base ? await client.revision(`${list.id}:${title}`, entry.base, { list: list.id }).then(it => it.markdown, () => "") : theirs?.base
    const words = h("textarea", { id: "merged", dir: "auto", value: mine, rows: 12 })
    const keep = text => attempt(async () => {
      await client.drop(entry.id)
      if (text !== null) await client.putNote(list.id, title, text, { base: theirs?.rev ?? null })
      if (note?.draft) await client.discardDraft(list.id, draft)
      await done()
    })
    return h("div.stack.section", h("p.note.bad", { role: "alert" }, "Another member has changed this note at the same time. Nothing is lost: choose, or put both together."),
      h("div.versions", version("As it was", base), version("Theirs, which all can see", theirs?.markdown, mine), version("Yours", mine, theirs?.markdown)),
      h("div", h("label", { for: "merged" }, "What it should say"), words),
      h("div.row", h("button.main", { onclick: () => keep(words.value) }, "Save this"), h("button", { onclick: () => keep(null) }, "Keep theirs")))
  }

  follow([id, "lists"], signal, renew)
  await renew()
  return { title, place: "lists", node }
}

/** A text of the note. Its lines that another text does not have are marked. */
function version(label, text = "", other = text) {
  const known = new Set(other.split("\n"))
  return h("div", h("h3", label), h("pre", { tabindex: "0", dir: "auto", "aria-label": label },
    text ? text.split("\n").map(line => [known.has(line) ? line : h("mark", line), "\n"]) : "(empty)"))
}
