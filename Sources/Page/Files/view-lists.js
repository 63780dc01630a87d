import { client, follow, isFirstRound, isUser } from "./client.js"
import { daysOf, time } from "./dates.js"
import { h, refill } from "./dom.js"
import { titleField } from "./list-head.js"
import { ask, attempt } from "./messages.js"
import { segment } from "./offline/server.js"
import { initial, personName, roleNames } from "./people.js"
import { go } from "./router.js"
import { busy, empty, waits } from "./states.js"
import { t } from "./texts.js"

/** The user's shared lists. */
export async function show(_, signal) {
  const content = h("div.section"), received = h("div")
  async function decide() {
    // Without a connection there is nothing to decide.
    const [open, blocked] = await Promise.all([client.receivedInvitations(), client.blocked()]).catch(() => [[], []])
    if (!signal.aborted) refill(received, invitations(open, decide), blockedPeople(blocked, decide))
  }
  async function renew() {
    const lists = await client.lists()
    if (signal.aborted) return
    refill(content, lists.length ? h("ul.tickets", lists.map(ticket))
      : isFirstRound() ? busy() : empty(t.noLists, isUser() ? t.makeAbove : t.listsShared))
  }
  follow(["lists"], signal, renew)
  await renew()
  if (isUser()) decide()
  return {
    title: t.lists, place: "lists",
    node: h("div", h("h1", t.lists), h("p.lead", t.listsText),
      isUser() ? maker() : h("p.note.section", t.listsGuest(text => h("a", { href: "/sign-up" }, text), text => h("a", { href: "/log-in" }, text))), received, content)
  }
}

/** The invitations that others have made for the user by name. */
function invitations(open, renew) {
  if (!open.length) return ""
  const button = (tag, verb, whom, work) => h(tag, { "aria-label": t.doTo(verb, whom), onclick: () => attempt(work) }, verb)
  return h("section.section", h("h2", t.invitations), h("ul.rows", open.map(it => {
    const inviter = it.inviter && personName({ username: it.inviter, displayName: it.inviterDisplayName })
    const refuse = how => client.refuseInvitation(it.id, how).then(renew)
    return h("li", null,
      h("div.what", h("p", !inviter ? t.needsOwner(it.title) : it.role === "owner" ? t.offersYou(inviter, it.title) : t.listBy(inviter, it.title)),
        h("p.muted.small", t.until(roleNames[it.role], time(it.expiresAt)))),
      button("button.main", t.accept, it.title, async () => go(`/lists/${(await client.acceptInvitation(it.id)).id}`)),
      button("button", t.decline, it.title, () => refuse("decline")),
      inviter ? button("button.danger", t.block, inviter, async () =>
        await ask({ title: t.blockAsk(inviter), text: t.blockText, yes: t.block, danger: true }) && refuse("block")) : null)
  })))
}

/** The people whose invitations the user does not want to see. */
function blockedPeople(people, renew) {
  if (!people.length) return ""
  return h("section.section", h("h2", t.blocked), h("ul.rows", people.map(person => h("li", null,
    h("div.what", h("p", h("strong", personName(person)))),
    h("button", { "aria-label": t.doTo(t.unblock, personName(person)), onclick: () => attempt(() => client.unblock(person.username).then(renew)) }, t.unblock)))))
}

/** The initial letters of the members. */
function faces(members, most = 5) {
  return h("div.faces", { "aria-hidden": "true" },
    members.slice(0, most).map(member => h("span.face", initial(member))),
    members.length > most ? h("span.face", `+${members.length - most}`) : null)
}

function ticket(list) {
  return h("li.ticket", h("h2", { dir: "auto" }, h("a", { href: `/lists/${segment(list.id)}` }, list.title)),
    daysOf(list) ? h("p", daysOf(list)) : null,
    h("p.muted.small", `${t.persons(list.members.length)} · ${list.role === "owner" ? t.yours : roleNames[list.role]}`,
      " ", waits(list)),
    faces(list.members))
}

function maker() {
  const title = titleField({ id: "new-title", placeholder: t.tripName })
  return h("form.finder", {
    "aria-label": t.newListName, onsubmit: () => attempt(async () => {
      const text = title.value.trim()
      if (!text) return title.focus()
      const entry = await client.makeList({ title: text })
      await go(`/lists/${segment(entry.list)}`)
    })
  }, h("div.wide", h("label", { for: "new-title" }, t.newListName), title), h("button.main", t.make))
}
