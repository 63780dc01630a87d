import { client, follow } from "./client.js"
import { h, time } from "./dom.js"
import { announce, ask, attempt, toast } from "./messages.js"
import { initial, personName, roleNames } from "./people.js"
import { go } from "./router.js"
import { head } from "./list-head.js"

/** The members of a list, invitations by name and by link, and links that only show the list. */
export async function show({ id }, signal) {
  const node = h("div")
  const parts = { head: h("div"), people: h("section.narrow"), invite: h("section.section.narrow"), links: h("section.section.narrow"), end: h("section.section.narrow") }
  let title = "", shown, fresh

  async function renew() {
    const list = await client.list(id)
    const look = JSON.stringify(list)
    if (signal.aborted || look === shown) return
    shown = look
    title = list.title
    parts.head.replaceChildren(...head(list, "members"))
    parts.people.replaceChildren(h("h2.unseen", "People"), h("ul.rows", list.members.map(member => row(list, member))))
    parts.end.replaceChildren(...ending(list))
    if (list.role !== "owner") [parts.invite, parts.links].forEach(part => part.replaceChildren())
    else if (!fresh && !parts.invite.contains(document.activeElement)) await Promise.all([showInvitations(list), showLinks(list)])
  }

  const options = chosen => ["editor", "reader"].map(value => h("option", { value, selected: chosen === value }, roleNames[value]))

  function row(list, member) {
    const name = personName(member)
    const isSelf = member.username === client.session.username, mayChange = list.role === "owner" && member.role !== "owner"
    const role = h("select", {
      "aria-label": `What ${name} may do`, onchange: () => attempt(async () => {
        await client.setMember(list.id, member.username, role.value, name)
        announce(`${name}: ${roleNames[role.value]}`)
      })
    }, options(member.role))
    return h("li", h("span.face", { "aria-hidden": "true" }, initial(member)),
      h("div.what", h("p", h("strong", name), isSelf ? " (you)" : null), h("p.muted.small", roleNames[member.role], " · since ", time(member.joinedAt))),
      mayChange ? [h("div", role),
        h("button", { "aria-label": `Hand the list on to ${name}`, onclick: () => handOn(list, member) }, "Hand on"),
        h("button.danger", { "aria-label": `Remove ${name}`, onclick: () => removeMember(list, member) }, "Remove")] : null)
  }

  const handOn = (list, member) => attempt(async () => {
    if (!await ask({ title: `Hand “${list.title}” on?`, text: `${personName(member)} becomes the owner when they accept.`, yes: "Offer it" })) return
    await client.offerList(list.id, member.username)
    await showInvitations(list)
  })

  const removeMember = (list, member) => attempt(async () => {
    if (!await ask({ title: `Remove ${personName(member)}?`, text: "They will not see the list any more. What they have added stays.", yes: "Remove", danger: true })) return
    await client.removeMember(list.id, member.username, personName(member))
  })

  async function showInvitations(list) {
    const open = await client.invitations(list.id).catch(() => null)
    if (signal.aborted) return
    // Keep the selected role when the list changes.
    const role = h("select", { id: "role" }, options(parts.invite.querySelector("select")?.value))
    const name = h("input", { id: "invitee", required: true, autocomplete: "off", autocapitalize: "none", spellcheck: "false" })
    parts.invite.replaceChildren(h("h2", "Invite a person"),
      open ? h("form.row", { onsubmit: event => { event.preventDefault(); attempt(() => inviteByName(list, name, role.value)) } },
        h("div", h("label", { for: "invitee" }, "Name"), name), h("div", h("label", { for: "role" }, "What they may do"), role),
        h("button.main", "Invite"), h("button", { type: "button", onclick: () => attempt(() => invite(list, role.value)) }, "Make a link"))
        : h("p.muted", "You can invite others when you are online."),
      h("p.hint", "An invitation appears under Lists. A link works once."),
      open?.length ? h("ul.rows.section", { "aria-label": "Open invitations" }, open.map(invitation => h("li", null,
        h("div.what", h("p", invitation.username ? `${personName(invitation)}: ` : "", roleNames[invitation.role], invitation.role === "owner" ? ", when they accept" : ""), h("p.muted.small", "Made ", time(invitation.createdAt), ", until ", time(invitation.expiresAt))),
        h("button.danger", { "aria-label": `Withdraw the invitation of ${invitation.createdAt}`, onclick: () => attempt(async () => { await client.withdraw(list.id, invitation.id); await showInvitations(list) }) }, "Withdraw")))) : "")
  }

  /** Invites the user of a name, and tells what became of it. */
  async function inviteByName(list, field, role) {
    const name = field.value.trim()
    const key = text => text.normalize("NFC").toLowerCase()
    const isMember = list.members.some(member => key(member.username) === key(name))
    const outcome = isMember ? "member" : await client.inviteByName(list.id, name, role).catch(error => {
      throw error.code === "not_found" ? new Error("No user has this name.") : error
    })
    field.value = ""
    field.focus()
    toast(outcome === "member" ? `${name} is on the list already.` : `${name} is invited, and sees it under Lists.`)
    await showInvitations(list)
    document.getElementById("invitee")?.focus()
  }

  async function invite(list, role) {
    const { token, expiresAt } = await client.invite(list.id, { role })
    showLink(parts.invite, `/invitations/${token}`, ["It is shown this once, and works once, until ", time(expiresAt), "."], () => showInvitations(list))
  }

  async function showLinks(list) {
    const links = await client.links(list.id).catch(() => null)
    if (signal.aborted || !links) return
    parts.links.replaceChildren(h("h2", "Show it to anybody"), h("p.muted", "Whoever has the link sees the list's words, hotels and notes without an account, but no names."),
      h("p.section", h("button", { onclick: () => attempt(async () => showLink(parts.links, `/shared/${(await client.makeLink(list.id)).secret}`,
        "It is shown this once, and works until you withdraw it.", () => showLinks(list))) }, "Make a link to look")),
      links.length ? h("ul.rows.section", { "aria-label": "Links to look" }, links.map(({ id, createdAt }) => h("li", null, h("p.what", "Made ", time(createdAt)),
        h("button.danger", { "aria-label": `Withdraw the link of ${createdAt}`, onclick: () => attempt(async () => { await client.withdrawLink(list.id, id); await showLinks(list) }) }, "Withdraw")))) : "")
  }

  /** Shows a new link in a part of the page until the user is done. */
  function showLink(part, path, hint, renew) {
    const link = h("input", { id: "link", readonly: true, value: location.origin + path, onfocus: () => link.select() })
    fresh = true
    part.replaceChildren(h("h2", "Here is the link"), h("p.muted", hint), h("div.section", h("label", { for: "link" }, "Link"), link),
      h("div.row.section", h("button.main", { onclick: () => copy(link) }, "Copy"), h("button", { onclick: () => { fresh = false; attempt(renew) } }, "Done")))
    link.focus()
    announce("The link is ready")
  }

  async function copy(link) {
    link.select()
    try {
      await navigator.clipboard.writeText(link.value)
      toast("The link is copied.")
    } catch {
      toast("Your browser does not copy by itself: the link is marked, copy it by hand.")
    }
  }

  function ending(list) {
    if (list.role === "owner") {
      return [h("h2", "End the list"), h("p.muted", "It ends for everybody, with its hotels and notes."),
        h("p.section", h("button.danger", { onclick: () => attempt(async () => {
          if (!await ask({ title: `End “${list.title}”?`, text: "This cannot be taken back.", yes: "End it for everybody", danger: true })) return
          await client.endList(list.id)
          await go("/lists")
        }) }, "End the list"))]
    }
    return [h("button.danger", { onclick: () => attempt(async () => {
      if (!await ask({ title: `Leave “${list.title}”?`, text: "You need a new invitation to come back.", yes: "Leave", danger: true })) return
      await client.leaveList(list.id)
      await go("/lists")
    }) }, "Leave the list")]
  }

  follow(["lists"], signal, renew)
  // Nothing tells of others' new display names.
  client.renewList(id).catch(() => {})
  await renew()
  node.append(...Object.values(parts))
  return { title: `People of ${title}`, place: "lists", node }
}
