import { client, follow, isUser } from "./client.js"
import { h, plural } from "./dom.js"
import { attempt } from "./messages.js"
import { go } from "./router.js"
import { empty, waits } from "./states.js"

/** The user's shared lists. */
export async function show(_, signal) {
  const content = h("div.section")
  async function renew() {
    const lists = await client.lists()
    if (signal.aborted) return
    content.replaceChildren(lists.length ? h("ul.tickets", lists.map(ticket))
      : empty("No lists yet", isUser() ? "Make one above, then invite others by a link." : "Lists are shared between people who have an account."))
  }
  follow(["lists"], signal, renew)
  await renew()
  return {
    title: "Lists", place: "lists",
    node: h("div", h("h1", "Lists"), h("p.lead", "Plan a trip with others: hotels and notes that you all can see and change."),
      isUser() ? maker() : h("p.note.section", h("a", { href: "/sign-up" }, "Sign up"), " or ", h("a", { href: "/log-in" }, "log in"),
        " to make a list. What you have bookmarked as a guest comes along."), content)
  }
}

/** The initial letters of the members. */
export function faces(members, most = 5) {
  return h("div.faces", { "aria-hidden": "true" },
    members.slice(0, most).map(member => h("span.face", [...member.username][0] ?? "?")),
    members.length > most ? h("span.face", `+${members.length - most}`) : null)
}

/** The roles' names for the user. */
export const roleNames = { owner: "Owner", editor: "Can change", reader: "Can read" }

function ticket(list) {
  return h("li.ticket", h("h2", h("a", { href: `/lists/${encodeURIComponent(list.id)}` }, list.title)),
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
