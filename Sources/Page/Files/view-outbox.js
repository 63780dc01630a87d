import { client, hear } from "./client.js"
import { h, time } from "./dom.js"
import { announce, attempt } from "./messages.js"
import { reason } from "./reasons.js"
import { empty } from "./states.js"
import { phrase } from "./sync.js"
import { notePath } from "./list-head.js"

/** All changes made in this browser, with the state of each. */

const states = { pending: "Waits", transit: "On its way", delivered: "Delivered", rejected: "Refused", parked: "Needs you" }

const sentences = {
  bookmark: (what, where) => where ? `Put ${what} on ${where}` : `Bookmark ${what}`,
  unbookmark: (what, where) => where ? `Take ${what} off ${where}` : `Remove the bookmark of ${what}`,
  annotate: what => `Write your note on ${what}`, undo: what => `Bring back ${what}`, restore: what => `Bring back an earlier state of ${what}`,
  makeList: what => `Make the list ${what}`, changeList: (_, where) => `Change ${where}`, endList: (_, where) => `End ${where}`,
  leaveList: (_, where) => `Leave ${where}`, setMember: (what, where) => `Change what ${what} may do on ${where}`,
  removeMember: (what, where) => `Remove ${what} from ${where}`, putNote: (what, where) => `Write the note ${what} on ${where}`,
  deleteNote: (what, where) => `Remove the note ${what} from ${where}`, publish: (what, where) => `Show ${what} to everybody on ${where}`,
  discardDraft: (what, where) => `Throw the draft of ${what} away`
}

export async function show(_, signal) {
  const summary = h("p.lead")
  const content = h("div.section")
  let editing, names = new Map()

  async function renew(entries) {
    names = new Map((await client.lists()).map(list => [list.id, list.title]))
    if (signal.aborted || editing) return
    summary.textContent = phrase(client.sync) + "."
    const focus = content.contains(document.activeElement) ? [document.activeElement.closest("[data-entry]")?.dataset.entry, document.activeElement.textContent] : null
    content.replaceChildren(entries.length ? h("ul.rows", entries.toReversed().map(row))
      : empty("Nothing on its way", "What you change is kept here until the server has it, also when you are offline."))
    if (focus?.[0]) {
      const buttons = [...content.querySelectorAll(`[data-entry="${focus[0]}"] button`)]
      ;(buttons.find(button => button.textContent === focus[1]) ?? content.querySelector(`[data-entry="${focus[0]}"]`))?.focus()
    }
  }

  const act = (text, work) => attempt(async () => { await work(); announce(text); await renew(await client.outbox()) })

  function row(entry) {
    const what = entry.label || entry.subject ? `“${entry.label ?? entry.subject}”` : "it"
    const where = entry.list ? `“${names.get(entry.list) ?? "a list"}”` : ""
    const sentence = (sentences[entry.action] ?? (name => name))(what, where)
    const isStuck = ["rejected", "parked"].includes(entry.state)
    const canChange = isStuck && typeof entry.body?.markdown === "string" || isStuck && typeof entry.body?.title === "string"
    return h("li", { "data-entry": entry.id, tabindex: "-1" },
      h("div.what", h("p", sentence),
        h("p.muted.small", time(entry.createdAt), entry.attempts > 1 ? ` · tried ${entry.attempts} times` : null,
          entry.state === "pending" && entry.nextAttemptAt ? [" · next try ", time(entry.nextAttemptAt)] : null),
        entry.reason && entry.state !== "delivered" ? h("p", { class: isStuck ? "wrong" : "muted" }, reason(entry)) : null,
        entry.theirs && entry.list ? h("p", h("a", { href: notePath(entry.list, entry.subject) }, "Look at both and put them together")) : null),
      h("span.state", { "data-state": entry.state }, states[entry.state] ?? entry.state),
      isStuck ? h("div.row",
        h("button", { "aria-label": `Send again: ${sentence}`, onclick: () => act("It is sent again", () => client.sendAgain(entry.id)) }, "Send again"),
        canChange ? h("button", { "aria-label": `Change: ${sentence}`, onclick: event => change(entry, event.target.closest("li")) }, "Change") : null,
        h("button.danger", { "aria-label": `Drop: ${sentence}`, onclick: () => act("It is dropped", () => client.drop(entry.id)) }, "Drop"))
        : entry.state === "delivered" && entry.undoable ? h("button", { "aria-label": `Undo: ${sentence}`, onclick: () => act("It is taken back", () => client.undo(entry.id)) }, "Undo") : null)
  }

  function change(entry, item) {
    editing = true
    const key = typeof entry.body.markdown === "string" ? "markdown" : "title"
    const field = h(key === "title" ? "input" : "textarea", { id: "changed", value: entry.body[key] })
    const end = async () => { editing = false; await renew(await client.outbox()) }
    item.replaceChildren(h("form.stack.what", { onsubmit: event => {
      event.preventDefault()
      attempt(async () => { await client.change(entry.id, { ...entry.body, [key]: field.value }); await end() })
    } }, h("div", h("label", { for: "changed" }, "Send this instead"), field),
    h("div.row", h("button.main", "Send"), h("button", { onclick: end }, "Cancel"))))
    field.focus()
  }

  hear("outbox", signal, event => renew(event.detail))
  hear("sync", signal, () => { summary.textContent = phrase(client.sync) + "." })
  await renew(await client.outbox())
  return {
    title: "Your changes", place: "account",
    node: h("div.narrow", h("h1", "Your changes"), summary,
      h("p.section", h("button.main", { onclick: () => attempt(() => client.syncNow()) }, "Sync now")), content)
  }
}
