import { client, hear, isLoggedIn, isUser } from "./client.js"
import { h, plural, time } from "./dom.js"
import { ask, attempt, toast } from "./messages.js"
import { isIssued, personName } from "./people.js"
import { go, render } from "./router.js"
import { reason } from "./reasons.js"

/** The account: who the user is, and actions on the account and its data. */
export async function show(_, signal) {
  const { session } = client
  const [me, adoptions, bookmarks] = await Promise.all([
    session.state === "active" ? client.me().catch(error => ({ failure: error })) : { failure: {} },
    isLoggedIn() ? client.adoptions().catch(() => []) : [], client.bookmarks()
  ])
  if (signal.aborted) return undefined
  hear("session", signal, () => { if (client.session.state !== session.state) render() })
  const name = isUser() ? personName(session) : session.state === "active" ? "You are a guest" : "You are not logged in"
  return {
    title: "Your account", place: "account",
    node: h("div.narrow.stack", h("h1", name), h("p.lead", lead(session)), entries(session), keeping(session),
      h("section.panel.stack", h("h2", "What is kept"), usage(me, bookmarks.length), h("div.row", h("a.button", { href: "/bookmarks" }, "Bookmarked hotels"), h("a.button", { href: "/outbox" }, "Your changes"))),
      adoptions.length ? h("section.panel.stack", h("h2", "Taken over from a guest"), h("ul.rows", adoptions.map(adoptionRow))) : null,
      isLoggedIn() ? isIssued(session.username) ? naming(session) : password() : null,
      session.state === "active" ? h("section.panel.stack", h("h2", "Take it with you"), h("p.muted", "A file with all that you have here. It can be read in again at this or another server."),
        h("div.row", h("a.button", { href: "/v1/me/export", download: "hotel-bookmarks.ndjson" }, "Save my data"), isUser() ? reading(me) : null)) : null,
      session.state === "none" ? null : leaving(session))
  }
}

function lead({ kind, state }) {
  if (state === "ended") return "You have been logged out here: you were away for long, or all sessions were ended elsewhere. What you have here is kept until you log in again."
  return kind === "user" ? "Your bookmarks and lists are on every device that you log in on."
    : "Your bookmarks are kept in this browser and on the server, without a name. Sign up to have them on other devices and to share lists."
}

function keeping({ state, keptUntil }) {
  if (state !== "active" || !keptUntil) return null
  return h("p.muted", "Every visit with a network keeps your bookmarks longer. Without a visit before ", time(keptUntil), ", the server erases them.")
}

function entries({ state, kind }) {
  if (kind === "user") return state === "ended" ? h("div.row", h("a.button.main", { href: "/log-in" }, "Log in again")) : null
  return h("div.row", h("a.button.main", { href: "/sign-up" }, "Sign up"), h("a.button", { href: "/log-in" }, "Log in"),
    state === "none" ? h("button", { onclick: () => attempt(async () => { await client.start(); await render() }) }, "Go on as a guest") : null)
}

function usage(me, count) {
  if (me.failure) return h("p.muted", `${plural(count, "bookmark")} on this device.`, me.failure.reason ? ` ${reason(me.failure)}` : null)
  const share = Math.max(0, Math.min(1, (me.usage?.bytes ?? 0) / (me.quota?.bytes || 1)))
  return h("div", h("p", plural(count, "bookmark")),
    h("p.row", h("progress", { max: 1, value: share, "aria-label": "Space used" })),
    h("p.muted.small", `${(share * 100).toLocaleString("en-GB", { maximumFractionDigits: 1 })} % of your space is used`))
}

function adoptionRow(adoption) {
  return h("li", h("div.what", h("p", plural(adoption.bookmarks, "bookmark")), h("p.muted.small", time(adoption.time), ", can be undone until ", time(adoption.undoableUntil))),
    h("button", { onclick: () => attempt(async () => {
      if (!await ask({ title: "Undo this?", text: `${plural(adoption.bookmarks, "bookmark")} from the guest leave your account again.`, yes: "Undo" })) return
      await client.undoAdoption(adoption.id)
      toast("It is undone.")
      await render()
    }) }, "Undo"))
}

/** Reads such a file into an empty account. */
function reading(me) {
  const file = h("input.unseen", { id: "file", type: "file", accept: ".ndjson,.gz,application/x-ndjson", onchange: () => attempt(async () => {
    const [chosen] = file.files
    file.value = ""
    if (!chosen) return
    const { documents } = await client.importData(chosen)
    toast(`${plural(documents, "document")} of the file ${documents === 1 ? "is" : "are"} here now.`)
    await render()
  }) })
  if (me.usage?.documents) return h("p.muted.small", "A saved file can be read into a new account, before anything is in it.")
  return [file, h("button", { onclick: () => file.click() }, "Read a saved file in")]
}

/** What a user of another issuer is called. */
function naming({ username, displayName }) {
  const name = h("input", { id: "display-name", value: displayName ?? "", maxlength: 64, "aria-describedby": "display-hint" })
  return h("section.panel.stack", h("h2", "Your name for others"),
    displayName ? null : h("p.note", "Choose a name by which the people on your lists know you."),
    h("form.form", { onsubmit: event => {
      event.preventDefault()
      attempt(async () => {
        await client.setDisplayName(name.value.trim() || null)
        toast("Others see it now.")
        await render()
      })
    } }, h("div", h("label", { for: "display-name" }, "Name"), name,
      h("p.hint", { id: "display-hint" }, "The digits behind it tell you from others.")),
    h("div.row", h("button", "Save the name"))),
    h("p.muted.small", "Others invite you by ", h("code", username)))
}

function password() {
  const old = h("input", { id: "old", type: "password", required: true, autocomplete: "current-password" })
  const next = h("input", { id: "new", type: "password", required: true, autocomplete: "new-password" })
  return h("section.panel", h("h2", "Change the password"), h("form.form", { onsubmit: event => {
    event.preventDefault()
    attempt(async () => {
      await client.changePassword({ currentPassword: old.value, password: next.value })
      old.value = next.value = ""
      toast("The password is changed. Other devices have to log in again.")
    })
  } }, h("input.unseen", { autocomplete: "username", value: client.session.username, readonly: true, tabindex: "-1", "aria-hidden": "true" }),
  h("div", h("label", { for: "old" }, "Present password"), old), h("div", h("label", { for: "new" }, "New password"), next), h("div.row", h("button", "Change it"))))
}

async function logOut(isGuest, everywhere = false) {
  if (everywhere && !await ask({ title: "Log out everywhere?", text: "All your devices and browsers have to log in again, this one too.", yes: "Log out everywhere" })) return
  try {
    if (isGuest && !await ask({ title: "Leave as a guest?", text: "A guest has no password: what you have bookmarked cannot be reached any more. Sign up first to keep it.", yes: "Leave it behind", danger: true })) return
    await client.logOut({ everywhere })
  } catch (error) {
    if (error.code !== "outbox_not_empty") throw error
    if (!await ask({ title: "Some changes are not on the server yet", text: "If you log out now they are lost.", yes: "Log out and lose them", danger: true })) return
    await client.logOut({ everywhere, discard: true })
  }
  toast("You are logged out. Nothing of yours is left in this browser.")
  await go("/account", { replace: true })
}

function leaving(session) {
  const isGuest = session.kind === "guest"
  if (session.state === "ended") {
    return h("section.panel.stack", h("h2", "Leave this browser"), h("p.muted", "Everything of yours is removed from this browser. It stays on the server."),
      h("div.row", h("button", { onclick: () => attempt(() => logOut(false)) }, "Remove it here")))
  }
  return h("section.panel.stack", h("h2", isGuest ? "Leave" : "Log out or erase"),
    h("p.muted", "Logging out removes everything of yours from this browser. ",
      isGuest ? null : "Log out everywhere if you have lost a device, or if another person may be logged in as you. ", "Erasing removes it from the server too, for good."),
    h("div.row", h("button", { onclick: () => attempt(() => logOut(isGuest)) }, isGuest ? "Leave this browser" : "Log out"),
      isGuest ? null : h("button", { onclick: () => attempt(() => logOut(false, true)) }, "Log out everywhere"),
      h("button.danger", { onclick: () => attempt(async () => {
        const handOn = h("input", { type: "checkbox" })
        const yes = await ask({ title: "Erase everything?", text: "Your bookmarks, notes and your account are gone for good. This cannot be taken back.", yes: "Erase everything", danger: true,
          body: isGuest ? null : h("label.check", handOn, "Offer my lists to their members for 30 days") })
        if (!yes) return
        await client.erase({ lists: handOn.checked ? "handOn" : "delete" })
        toast("Everything of yours is erased.")
        await go("/", { replace: true })
      }) }, "Erase everything")))
}
