import { client, hear, isLoggedIn, isUser } from "./client.js"
import { time } from "./dates.js"
import { h, labelled } from "./dom.js"
import { titleField } from "./list-head.js"
import { ask, attempt, toast } from "./messages.js"
import { isIssued, personName } from "./people.js"
import { go, render } from "./router.js"
import { reason } from "./reasons.js"
import { locale, t } from "./texts.js"

/** The account: who the user is, and actions on the account and its data. */
export async function show(_, signal) {
  const { session } = client
  const [me, adoptions, bookmarks] = await Promise.all([
    session.state === "active" ? client.me().catch(error => ({ failure: error })) : { failure: {} },
    isLoggedIn() ? client.adoptions().catch(() => []) : [], client.bookmarks()
  ])
  if (signal.aborted) return undefined
  hear("session", signal, () => { if (client.session.state !== session.state) render() })
  const name = isUser() ? personName(session) : session.state === "active" ? t.guest : t.notLoggedIn
  return {
    title: t.yourAccount, place: "account",
    node: h("div.narrow.stack", h("h1", name), h("p.lead", lead(session)), entries(session), keeping(session),
      h("section.panel.stack", h("h2", t.whatIsKept), usage(me, bookmarks.length), h("div.row", h("a.button", { href: "/bookmarks" }, t.bookmarkedHotels), h("a.button", { href: "/outbox" }, t.yourChanges))),
      adoptions.length ? h("section.panel.stack", h("h2", t.takenOver), h("ul.rows", adoptions.map(adoptionRow))) : null,
      isLoggedIn() ? isIssued(session.username) ? naming(session) : password() : null,
      session.state === "active" ? h("section.panel.stack", h("h2", t.takeAlong), h("p.muted", t.exportText),
        h("div.row", h("a.button", { href: "/v1/me/export", download: "hotel-bookmarks.ndjson" }, t.saveData), isUser() ? reading(me) : null)) : null,
      session.state === "none" ? null : leaving(session))
  }
}

const lead = ({ kind, state }) => state === "ended" ? t.endedLong : kind === "user" ? t.everyDevice : t.guestText

const keeping = ({ state, keptUntil }) => state === "active" && keptUntil ? h("p.muted", t.keptBefore(time(keptUntil))) : null

function entries({ state, kind }) {
  if (kind === "user") return state === "ended" ? h("div.row", h("a.button.main", { href: "/log-in" }, t.logInAgain)) : null
  return h("div.row", h("a.button.main", { href: "/sign-up" }, t.signUp), h("a.button", { href: "/log-in" }, t.logIn),
    state === "none" ? h("button", { onclick: () => attempt(async () => { await client.start(); await render() }) }, t.goOnGuest) : null)
}

function usage(me, count) {
  if (me.failure) return h("p.muted", t.onDevice(count), me.failure.reason ? ` ${reason(me.failure)}` : null)
  const share = Math.max(0, Math.min(1, (me.usage?.bytes ?? 0) / (me.quota?.bytes || 1)))
  return h("div", h("p", t.bookmarks(count)),
    h("p.row", h("progress", { max: 1, value: share, "aria-label": t.space })),
    h("p.muted.small", t.spaceUsed(share.toLocaleString(locale, { style: "percent", maximumFractionDigits: 1 }))))
}

function adoptionRow(adoption) {
  return h("li", h("div.what", h("p", t.bookmarks(adoption.bookmarks)), h("p.muted.small", t.adopted(time(adoption.time), time(adoption.undoableUntil)))),
    h("button", { onclick: () => attempt(async () => {
      if (!await ask({ title: t.undo, text: t.adoptionLeaves(adoption.bookmarks), yes: t.undo })) return
      await client.undoAdoption(adoption.id)
      toast(t.undone)
      await render()
    }) }, t.undo))
}

/** Reads such a file into an empty account. */
function reading(me) {
  const file = h("input.unseen", { id: "file", type: "file", accept: ".ndjson,.gz,application/x-ndjson", onchange: () => attempt(async () => {
    const [chosen] = file.files
    file.value = ""
    if (!chosen) return
    const { documents } = await client.importData(chosen).catch(error => {
      // It ends early, or is not packed as its name says.
      if (error.status === 400) error.code = "invalid_export"
      throw error
    })
    toast(t.readIn(documents))
    await render()
  }) })
  if (me.usage?.documents !== 0) return h("p.muted.small", t.readRule)
  return [file, h("button", { onclick: () => file.click() }, t.readFile)]
}

/** What a user of another issuer is called. */
function naming({ username, displayName }) {
  const name = titleField({ id: "display-name", required: false, value: displayName ?? "", "aria-describedby": "display-hint" }, 64)
  return h("section.panel.stack", h("h2", t.nameForOthers),
    displayName ? null : h("p.note", t.chooseName),
    h("form.form", { onsubmit: () => attempt(async () => {
      await client.setDisplayName(name.value.trim() || null)
      toast(t.othersSee)
      await render()
    }) }, labelled(t.name, name, h("p.hint", { id: "display-hint" }, t.digits)),
    h("div.row", h("button", t.saveName))),
    h("p.muted.small", t.invitedBy(h("code", username))))
}

function password() {
  const old = h("input", { id: "old", type: "password", required: true, autocomplete: "current-password" })
  const next = h("input", { id: "new", type: "password", required: true, autocomplete: "new-password" })
  return h("section.panel", h("h2", t.changePassword), h("form.form", { onsubmit: () => attempt(async () => {
    await client.changePassword({ currentPassword: old.value, password: next.value })
    old.value = next.value = ""
    toast(t.passwordChanged)
  }) }, h("input.unseen", { autocomplete: "username", value: client.session.username, readonly: true, tabindex: "-1", "aria-hidden": "true" }),
  labelled(t.oldPassword, old), labelled(t.newPassword, next), h("div.row", h("button", t.changeIt))))
}

/** Whether a note was begun here and not saved, which is no change yet (`view-note.js`). */
function isTyped() {
  try { return Object.keys(localStorage).some(key => key.startsWith(client.session.id)) } catch { return false }
}

const lose = () => ask({ title: t.notSent, text: t.outLost, yes: t.outLose, danger: true })

async function logOut(isGuest, everywhere = false) {
  if (everywhere && !await ask({ title: t.outEverywhereAsk, text: t.outEverywhereText, yes: t.outEverywhere })) return
  try {
    if (isGuest && !await ask({ title: t.leaveGuest, text: t.leaveGuestText, yes: t.leaveBehind, danger: true })) return
    const discard = isTyped()
    if (discard && !await lose()) return
    await client.logOut({ everywhere, discard })
  } catch (error) {
    if (error.code !== "outbox_not_empty") throw error
    if (!await lose()) return
    await client.logOut({ everywhere, discard: true })
  }
  toast(t.loggedOutNow)
  await go("/account", { replace: true })
}

function leaving(session) {
  const isGuest = session.kind === "guest"
  if (session.state === "ended") {
    return h("section.panel.stack", h("h2", t.leaveBrowser), h("p.muted", t.leaveBrowserText),
      h("div.row", h("button", { onclick: () => attempt(() => logOut(false)) }, t.removeHere)))
  }
  return h("section.panel.stack", h("h2", isGuest ? t.leave : t.outOrErase),
    h("p.muted", t.leaving(isGuest)),
    h("div.row", h("button", { onclick: () => attempt(() => logOut(isGuest)) }, isGuest ? t.leaveBrowser : t.logOut),
      isGuest ? null : h("button", { onclick: () => attempt(() => logOut(false, true)) }, t.outEverywhere),
      h("button.danger", { onclick: () => attempt(async () => {
        const handOn = h("input", { type: "checkbox" })
        const yes = await ask({ title: t.eraseAsk, text: t.eraseText, yes: t.erase, danger: true,
          body: isGuest ? null : h("label.check", handOn, t.offerLists) })
        if (!yes) return
        await client.erase({ lists: handOn.checked ? "handOn" : "delete" })
        toast(t.erased)
        await go("/", { replace: true })
      }) }, t.erase)))
}
