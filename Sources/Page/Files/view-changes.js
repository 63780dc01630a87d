import { client } from "./client.js"
import { time } from "./dates.js"
import { h, refill } from "./dom.js"
import { attempt, toast } from "./messages.js"
import { personName } from "./people.js"
import { empty } from "./states.js"
import { head } from "./list-head.js"
import { t } from "./texts.js"

/** Who changed what on a list, newest first, and bringing back what was removed. */
export async function show({ id }, signal) {
  const list = await client.list(id), rows = h("ol.rows"), more = h("div.more")
  const load = async after => {
    const { changes, next } = await client.changes(list.id, { after })
    if (signal.aborted) return
    if (!after) refill(rows)
    rows.append(...changes.map(row))
    refill(more, next ? h("button", { onclick: () => attempt(() => load(next)) }, t.earlier) : "")
  }
  const row = ({ id, kind, name, rev, deleted, time: when, by, former }) => h("li", null,
    h("div.what", h("p", t.didWhat(kind === "list" && by?.kind === "server" ? "" : who(by), deleted ? "removed" : rev.startsWith("1-") ? "added" : "changed", kind, h("strong", name))),
      h("p.muted.small", when ? time(when) : t.timeUnknown)),
    former && list.role !== "reader" ? h("button", { "aria-label": t.bringNameBack(name), onclick: () => attempt(async () => {
      await client.settled((await client.restore(id, former, { list: list.id, label: name, base: rev })).id)
      toast(t.isBack(name))
      await load()
    }) }, t.bringBack) : null)
  await load()
  return {
    title: t.historyOf(list.title), place: "lists",
    node: h("div", head(list, "history"), h("div.narrow", rows.childElementCount ? rows : empty(t.noHistory, t.nothingChanged), more))
  }
}

function who(by) {
  if (by?.kind !== "user") return t.somebody
  return by.name ? personName({ ...by, username: by.name }) : t.formerMember
}
