import { client, hear } from "./client.js"
import { time } from "./dates.js"
import { h, labelled, refill } from "./dom.js"
import { announce, attempt, settle } from "./messages.js"
import { reason } from "./reasons.js"
import { empty } from "./states.js"
import { phrase } from "./sync.js"
import { t } from "./texts.js"
import { notePath } from "./list-head.js"

/** All changes made in this browser, with the state of each. */

const states = { pending: t.pending, transit: t.transit, delivered: t.delivered, rejected: t.rejected, parked: t.parked }

export async function show(_, signal) {
  const summary = h("p.lead")
  const content = h("div.section")
  let editing, names = new Map()

  async function renew(entries) {
    names = new Map((await client.lists()).map(list => [list.id, list.title]))
    if (signal.aborted || editing) return
    summary.textContent = phrase(client.sync)
    const focus = content.contains(document.activeElement) ? [document.activeElement.closest("[data-entry]")?.dataset.entry, document.activeElement.textContent] : null
    refill(content, entries.length ? h("ul.rows", entries.toReversed().map(row))
      : empty(t.nothingWaits, t.outboxText))
    if (focus?.[0]) {
      const buttons = [...content.querySelectorAll(`[data-entry="${focus[0]}"] button`)]
      ;(buttons.find(button => button.textContent === focus[1]) ?? content.querySelector(`[data-entry="${focus[0]}"]`))?.focus()
    }
  }

  const act = (text, work) => attempt(async () => { await work(); announce(text); await renew(await client.outbox()) })

  function row(entry) {
    settle(entry.id)
    const where = entry.list && t.quote(names.get(entry.list) ?? t.list), what = t.quote(entry.label ?? entry.subject ?? "")
    const sentence = t.actions[entry.action]?.(what, where) ?? what
    const isStuck = ["rejected", "parked"].includes(entry.state)
    const canChange = isStuck && typeof entry.body?.markdown === "string" || isStuck && typeof entry.body?.title === "string"
    return h("li", { "data-entry": entry.id, tabindex: "-1" },
      h("div.what", h("p", sentence),
        h("p.muted.small", time(entry.createdAt), entry.attempts > 1 ? [" · ", t.tried(entry.attempts)] : null,
          entry.state === "pending" && entry.nextAttemptAt ? [" · ", t.nextTry(time(entry.nextAttemptAt))] : null),
        entry.reason && entry.state !== "delivered" ? h("p", { class: isStuck ? "wrong" : "muted" }, reason(entry)) : null,
        entry.theirs && entry.list ? h("p", h("a", { href: notePath(entry.list, entry.subject) }, t.putTogether)) : null),
      h("span.state", { "data-state": entry.state }, states[entry.state] ?? entry.state),
      isStuck ? h("div.row",
        h("button", { "aria-label": `${t.sendAgain}: ${sentence}`, onclick: () => act(t.sentAgain, () => client.sendAgain(entry.id)) }, t.sendAgain),
        canChange ? h("button", { "aria-label": `${t.change}: ${sentence}`, onclick: event => change(entry, event.target.closest("li")) }, t.change) : null,
        h("button.danger", { "aria-label": `${t.drop}: ${sentence}`, onclick: () => act(t.dropped, () => client.drop(entry.id)) }, t.drop))
        : entry.state === "delivered" && entry.undoable ? h("button", { "aria-label": `${t.undo}: ${sentence}`, onclick: () => act(t.takenBack, () => client.undo(entry.id)) }, t.undo) : null)
  }

  function change(entry, item) {
    editing = true
    const key = typeof entry.body.markdown === "string" ? "markdown" : "title"
    const field = h(key === "title" ? "input" : "textarea", { id: "changed", value: entry.body[key] })
    const end = async () => { editing = false; await renew(await client.outbox()) }
    refill(item, h("form.stack.what", { onsubmit: () => attempt(async () => { await client.change(entry.id, { ...entry.body, [key]: field.value }); await end() }) },
      labelled(t.sendInstead, field), h("div.row", h("button.main", t.send), h("button", { onclick: end }, t.cancel))))
    field.focus()
  }

  hear("outbox", signal, event => renew(event.detail))
  hear("sync", signal, () => { summary.textContent = phrase(client.sync) })
  await renew(await client.outbox())
  return {
    title: t.yourChanges, place: "account",
    node: h("div.narrow", h("h1", t.yourChanges), summary,
      h("p.section", h("button.main", { onclick: () => attempt(() => client.syncNow()) }, t.syncNow)), content)
  }
}
