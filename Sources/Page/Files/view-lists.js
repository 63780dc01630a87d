import { client, follow, isUser } from "./client.js"
import { daysOf, h, plural, time } from "./dom.js"
import { ask, attempt } from "./messages.js"
import { initial, personName, roleNames } from "./people.js"
import { go } from "./router.js"
import { empty, waits } from "./states.js"

/** The user's shared lists. */
export async function show(_, signal) {
  const content = h("div.section"), received = h("div")
  async function decide() {
    // Without a connection there is nothing to decide.
    const [open, blocked] = await Promise.all([client.receivedInvitations(), client.blocked()]).catch(() => [[], []])
    if (!signal.aborted) received.replaceChildren(invitations(open, decide), blockedPeople(blocked, decide))
  }
  async function renew() {
    const lists = await client.lists()
    if (signal.aborted) return
    content.replaceChildren(lists.length ? h("ul.tickets", lists.map(ticket))
      : empty("No lists yet", isUser() ? "Make one above, then invite others." : "Lists are shared between people who have an account."))
  }
  follow(["lists"], signal, renew)
  await renew()
  if (isUser()) decide()
  return {
    title: "Lists", place: "lists",
    node: h("div", h("h1", "Lists"), h("p.lead", "Plan a trip with others: hotels and notes that you all can see and change."),
      isUser() ? maker() : h("p.note.section", h("a", { href: "/sign-up" }, "Sign up"), " or ", h("a", { href: "/log-in" }, "log in"),
        " to make a list. What you have bookmarked as a guest comes along."), received, content)
  }
}

/** The invitations that others have made for the user by name. */
function invitations(open, renew) {
  if (!open.length) return ""
  const button = (tag, verb, whom, work) => h(tag, { "aria-label": `${verb} ${whom}`, onclick: () => attempt(work) }, verb)
  return h("section.section", h("h2", "Invitations"), h("ul.rows", open.map(it => {
    const inviter = it.inviter && personName({ username: it.inviter, displayName: it.inviterDisplayName })
    const refuse = how => client.refuseInvitation(it.id, how).then(renew)
    return h("li", null,
      h("div.what", h("p", !inviter ? `“${it.title}” needs an owner` : it.role === "owner" ? `${inviter} offers you the list “${it.title}”` : `“${it.title}” by ${inviter}`),
        h("p.muted.small", roleNames[it.role], ", until ", time(it.expiresAt))),
      button("button.main", "Accept", it.title, async () => go(`/lists/${(await client.acceptInvitation(it.id)).id}`)),
      button("button", "Decline", it.title, () => refuse("decline")),
      inviter ? button("button.danger", "Block", inviter, async () =>
        await ask({ title: `Block ${inviter}?`, text: "You see no invitation of theirs any more. They do not learn it.", yes: "Block", danger: true }) && refuse("block")) : null)
  })))
}

/** The people whose invitations the user does not want to see. */
function blockedPeople(people, renew) {
  if (!people.length) return ""
  return h("section.section", h("h2", "Blocked"), h("ul.rows", people.map(person => h("li", null,
    h("div.what", h("p", h("strong", personName(person)))),
    h("button", { "aria-label": `Unblock ${personName(person)}`, onclick: () => attempt(() => client.unblock(person.username).then(renew)) }, "Unblock")))))
}

/** The initial letters of the members. */
function faces(members, most = 5) {
  return h("div.faces", { "aria-hidden": "true" },
    members.slice(0, most).map(member => h("span.face", initial(member))),
    members.length > most ? h("span.face", `+${members.length - most}`) : null)
}

function ticket(list) {
  return h("li.ticket", h("h2", { dir: "auto" }, h("a", { href: `/lists/${encodeURIComponent(list.id)}` }, list.title)),
    daysOf(list) ? h("p", daysOf(list)) : null,
    h("p.muted.small", `${plural(list.members.length, "person", "people")} · ${list.role === "owner" ? "yours" : roleNames[list.role].toLowerCase()}`,
      " ", waits(list)),
    faces(list.members))
}

function maker() {
  const title = h("input", { id: "new-title", name: "title", required: true, maxlength: 200, autocomplete: "off", placeholder: "Cornwall in May" })
  return h("form.finder", {
    "aria-label": "New list", onsubmit: event => {
      event.preventDefault()
      const text = title.value.trim()
      if (!text) return title.focus()
      attempt(async () => {
        const entry = await client.makeList({ title: text })
        await go(`/lists/${encodeURIComponent(entry.list)}`)
      })
    }
  }, h("div.wide", h("label", { for: "new-title" }, "A new list"), title), h("button.main", "Make it"))
}
