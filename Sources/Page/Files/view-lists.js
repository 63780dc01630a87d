import { client, follow, isUser } from "./client.js"
import { h, plural } from "./dom.js"
import { attempt } from "./messages.js"
import { go } from "./router.js"
import { empty } from "./states.js"

/** The lists that one shares with others. */
export async function show(_, signal) {
  const content = h("div", { class: "section" })
  async function renew() {
    const lists = await client.lists()
    if (signal.aborted) return
    content.replaceChildren(lists.length ? h("ul", { class: "tickets" }, lists.map(ticket))
      : empty("No lists yet", isUser() ? "Make one above, then invite others by a link." : "Lists are shared between people who have an account."))
  }
  follow(["lists"], signal, renew)
  await renew()
  return {
    title: "Lists", place: "lists",
    node: h("div", null, h("h1", null, "Lists"), h("p", { class: "lead" }, "Plan a trip with others: hotels and notes that you all can see and change."),
      isUser() ? maker() : h("p", { class: "note section" }, h("a", { href: "/sign-up" }, "Sign up"), " or ", h("a", { href: "/log-in" }, "log in"),
        " to make a list. What you have bookmarked as a guest comes along."), content)
  }
}

/** The letters that stand for people. */
export function faces(members, most = 5) {
  return h("div", { class: "faces", "aria-hidden": "true" },
    members.slice(0, most).map(member => h("span", { class: "face" }, [...member.username][0] ?? "?")),
    members.length > most ? h("span", { class: "face" }, `+${members.length - most}`) : null)
}

/** A role as people say it. */
export const roleNames = { owner: "Owner", editor: "Can change", reader: "Can read" }

function ticket(list) {
  return h("li", { class: "ticket" }, h("h2", null, h("a", { href: `/lists/${encodeURIComponent(list.id)}` }, list.title)),
    h("p", { class: "muted small" }, `${plural(list.members.length, "person", "people")} · ${list.role === "owner" ? "yours" : roleNames[list.role].toLowerCase()}`,
      list.pending ? [" ", h("span", { class: "chip waiting" }, "Waits to be sent")] : null),
    faces(list.members))
}

function maker() {
  const title = h("input", { id: "new-title", name: "title", required: true, maxlength: 200, autocomplete: "off", placeholder: "Cornwall in May" })
  return h("form", {
    class: "finder", "aria-label": "New list", onsubmit: event => {
      event.preventDefault()
      const text = title.value.trim()
      if (!text) return title.focus()
      attempt(async () => {
        const entry = await client.makeList({ title: text })
        await go(`/lists/${encodeURIComponent(entry.list)}`)
      })
    }
  }, h("div", { class: "wide" }, h("label", { for: "new-title" }, "A new list"), title), h("button", { class: "main" }, "Make it"))
}
