import { client, follow } from "./client.js"
import { time } from "./dates.js"
import { h, labelled, refill } from "./dom.js"
import { announce, ask, attempt, toast } from "./messages.js"
import { initial, personName, roleNames } from "./people.js"
import { focusOn, go } from "./router.js"
import { head } from "./list-head.js"
import { t } from "./texts.js"

/** The members of a list, invitations by name and by link, and links that only show the list. */
export async function show({ id }, signal) {
  const node = h("div")
  const parts = { head: h("div"), people: h("section.narrow"), invite: h("section.section.narrow"), links: h("section.section.narrow"), end: h("section.section.narrow") }
  let title = "", shown, fresh

  /** Fills a part anew. If the pressed button goes with that, the focus stays in the part. */
  function put(part, ...children) {
    const had = part.contains(document.activeElement)
    refill(part, ...children)
    if (had) focusOn(part.querySelector("h2"))
  }

  async function renew() {
    const list = await client.list(id)
    const look = JSON.stringify(list)
    if (signal.aborted || look === shown) return
    shown = look
    title = list.title
    refill(parts.head, ...head(list, "members"))
    put(parts.people, h("h2.unseen", t.people), h("ul.rows", list.members.map(member => row(list, member))))
    refill(parts.end, ...ending(list))
    if (list.role !== "owner") [parts.invite, parts.links].forEach(part => refill(part))
    else if (!fresh && !parts.invite.contains(document.activeElement)) await Promise.all([showInvitations(list), showLinks(list)])
  }

  const options = chosen => ["editor", "reader"].map(value => h("option", { value, selected: chosen === value }, roleNames[value]))

  function row(list, member) {
    const name = personName(member)
    const isSelf = member.username === client.session.username, mayChange = list.role === "owner" && member.role !== "owner"
    const role = h("select", {
      "aria-label": t.mayDoOf(name), onchange: () => attempt(async () => {
        await client.setMember(list.id, member.username, role.value, name)
        announce(`${name}: ${roleNames[role.value]}`)
      })
    }, options(member.role))
    return h("li", h("span.face", { "aria-hidden": "true" }, initial(member)),
      h("div.what", h("p", h("strong", name), isSelf ? t.isYou() : null), h("p.muted.small", t.since(roleNames[member.role], time(member.joinedAt)))),
      mayChange ? [h("div", role),
        h("button", { "aria-label": t.handOnTo(name), onclick: () => handOn(list, member) }, t.handOn),
        h("button.danger", { "aria-label": t.doTo(t.remove, name), onclick: () => removeMember(list, member) }, t.remove)] : null)
  }

  const handOn = (list, member) => attempt(async () => {
    if (!await ask({ title: t.handOnAsk(list.title), text: t.handOnText(personName(member)), yes: t.offerIt })) return
    await client.offerList(list.id, member.username)
    await showInvitations(list)
  })

  const removeMember = (list, member) => attempt(async () => {
    if (!await ask({ title: t.removeAsk(personName(member)), text: t.removeText, yes: t.remove, danger: true })) return
    await client.removeMember(list.id, member.username, personName(member))
  })

  async function showInvitations(list) {
    const open = await client.invitations(list.id).catch(() => null)
    if (signal.aborted) return
    // Keep the selected role when the list changes.
    const role = h("select", { id: "role" }, options(parts.invite.querySelector("select")?.value))
    const name = h("input", { id: "invitee", required: true, autocomplete: "off", autocapitalize: "none", spellcheck: "false" })
    put(parts.invite, h("h2", t.invitePerson),
      open ? h("form.row", { onsubmit: () => attempt(() => inviteByName(list, name, role.value)) },
        labelled(t.name, name), labelled(t.mayDo, role),
        h("button.main", t.invite), h("button", { onclick: () => attempt(() => invite(list, role.value)) }, t.makeLink))
        : h("p.muted", t.inviteOnline),
      h("p.hint", t.inviteText),
      open?.length ? h("ul.rows.section", { "aria-label": t.openInvitations }, open.map(invitation => h("li", null,
        h("div.what", h("p", invitation.username ? `${personName(invitation)}: ` : "", invitation.role === "owner" ? t.whenAccepted(t.owner) : roleNames[invitation.role]), h("p.muted.small", t.madeUntil(time(invitation.createdAt), time(invitation.expiresAt)))),
        h("button.danger", { "aria-label": t.withdrawInvitation(time(invitation.createdAt).textContent), onclick: () => attempt(async () => { await client.withdraw(list.id, invitation.id); await showInvitations(list) }) }, t.withdraw)))) : "")
  }

  /** Invites the user of a name, and tells what became of it. */
  async function inviteByName(list, field, role) {
    const name = field.value.trim()
    const key = text => text.normalize("NFC").toLowerCase()
    const isMember = list.members.some(member => key(member.username) === key(name))
    const outcome = isMember ? "member" : await client.inviteByName(list.id, name, role).catch(error => {
      throw error.code === "not_found" ? new Error(t.noUser) : error
    })
    toast(outcome === "member" ? t.isMember(name) : t.isInvited(name))
    await showInvitations(list)
    document.getElementById("invitee")?.focus()
  }

  async function invite(list, role) {
    const { token, expiresAt } = await client.invite(list.id, { role })
    showLink(parts.invite, `/invitations/${token}#${new URLSearchParams({ by: personName(client.session), list: list.title })}`, t.linkOnce(time(expiresAt)), () => showInvitations(list))
  }

  async function showLinks(list) {
    const links = await client.links(list.id).catch(() => null)
    if (signal.aborted || !links) return
    put(parts.links, h("h2", t.showAnybody), h("p.muted", t.showAnybodyText),
      h("p.section", h("button", { onclick: () => attempt(async () => showLink(parts.links, `/shared/${(await client.makeLink(list.id)).secret}`,
        t.lookLinkHint, () => showLinks(list))) }, t.makeLookLink)),
      links.length ? h("ul.rows.section", { "aria-label": t.lookLinks }, links.map(({ id, createdAt }) => h("li", null, h("p.what", t.made(time(createdAt))),
        h("button.danger", { "aria-label": t.withdrawLink(time(createdAt).textContent), onclick: () => attempt(async () => { await client.withdrawLink(list.id, id); await showLinks(list) }) }, t.withdraw)))) : "")
  }

  /** Shows a new link in a part of the page until the user is done. */
  function showLink(part, path, hint, renew) {
    const link = h("input", { id: "link", readonly: true, value: location.origin + path, onfocus: () => link.select() })
    fresh = true
    refill(part, h("h2", t.hereLink), h("p.muted", hint), h("div.section", h("label", { for: "link" }, t.link), link),
      h("div.row.section", h("button.main", { onclick: () => copy(link) }, t.copy),
        // The phone's share sheet. Closing it is no failure.
        navigator.share ? h("button", { onclick: () => navigator.share({ url: link.value }).catch(() => {}) }, t.send) : null, h("button", { onclick: () => { fresh = false; attempt(renew) } }, t.done)))
    link.focus()
    announce(t.hereLink)
  }

  async function copy(link) {
    link.select()
    // A page by plain HTTP has no clipboard.
    const isCopied = await navigator.clipboard?.writeText(link.value).then(() => true, () => false)
    toast(isCopied ? t.linkCopied : t.noCopy)
  }

  function ending({ id, role, title }) {
    const isOwner = role === "owner"
    const question = isOwner ? { title: t.endAsk(title), text: t.noReturn, yes: t.endForAll } : { title: t.leaveAsk(title), text: t.leaveText, yes: t.leave }
    const button = h("button.danger", { onclick: () => attempt(async () => {
      if (!await ask({ ...question, danger: true })) return
      await (isOwner ? client.endList(id) : client.leaveList(id))
      await go("/lists")
    }) }, isOwner ? t.endList : t.leaveList)
    return isOwner ? [h("h2", t.endList), h("p.muted", t.endText), h("p.section", button)] : [button]
  }

  follow(["lists"], signal, renew)
  // Nothing tells of others' new display names.
  client.renewList(id).catch(() => {})
  await renew()
  node.append(...Object.values(parts))
  return { title: t.peopleOf(title), place: "lists", node }
}
