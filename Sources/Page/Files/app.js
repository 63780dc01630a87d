import { client } from "./client.js"
import { time } from "./dates.js"
import { h, refill } from "./dom.js"
import { isIssued, personName } from "./people.js"
import { reason } from "./reasons.js"
import { failure } from "./states.js"
import { toast } from "./messages.js"
import { go, rewrite, route, start, render } from "./router.js"
import { syncButton } from "./sync.js"
import { t } from "./texts.js"

/** The app: the views and their URLs, and the frame around them. */

route("/", () => import("./view-search.js"))
route("/hotels/{id}", () => import("./view-hotel.js"))
route("/bookmarks", () => import("./view-bookmarks.js"))
route("/bookmarks/{id}/history", () => import("./view-history.js"))
route("/lists", () => import("./view-lists.js"))
route("/lists/{id}", () => import("./view-list.js"))
route("/lists/{id}/notes/{title}", () => import("./view-note.js"))
route("/lists/{id}/members", () => import("./view-members.js"))
route("/lists/{id}/drafts", () => import("./view-drafts.js"))
route("/lists/{id}/history", () => import("./view-changes.js"))
route("/invitations/{token}", () => import("./view-invitation.js"))
route("/outbox", () => import("./view-outbox.js"))
route("/account", () => import("./view-account.js"))
route("/log-in", () => import("./view-enter.js"))
route("/sign-up", () => import("./view-enter.js"))
route("/reset", () => import("./view-reset.js"))

/** How long before a guest's data is erased the page warns, in milliseconds: 7 days. */
const warning = 7 * 86_400_000

/** The address that the service worker leaves to the network, as in `worker.js`. */
const network = "/?network"

/** By the date, and by the time since the last round: the clock of a device that has just synced is wrong. */
const isNearEnd = () =>
  Math.max(Date.parse(client.session.keptUntil) - warning, +new Date(client.sync.lastSync) + warning) < Date.now()

function showPerson() {
  const { state, kind, keptUntil } = client.session
  document.getElementById("who").textContent = kind === "user" ? personName(client.session) : t.you
  const banner = document.getElementById("banner"), { intercepted } = client.sync
  banner.hidden = !intercepted && state !== "ended" && !isNearEnd()
  if (intercepted) {
    refill(banner, t.intercepted, " ", h("a", { href: network, target: "_self" }, t.openPage))
  } else if (state === "ended") {
    if (!banner.contains(document.activeElement)) refill(banner, t.ended, " ", again())
  } else if (isNearEnd()) {
    refill(banner, ...t.nearEnd(time(keptUntil)), " ", h("a", { href: "/account" }, t.yourAccount))
  }
}

/** Logs the same user in again, without leaving the view. */
function again() {
  const { username } = client.session
  if (isIssued(username)) return h("a", { href: "/log-in" }, t.logIn)
  const word = h("input", { id: "again", type: "password", required: true, autocomplete: "current-password", placeholder: t.password, "aria-label": t.passwordOf(username), "aria-describedby": "again-told" })
  const told = h("span.wrong", { id: "again-told", role: "alert" })
  return h("form.row", { onsubmit: async () => {
    told.textContent = ""
    await client.logIn({ username, password: word.value }).catch(error => {
      told.textContent = error.code === "unauthorized" ? t.wrongPassword : reason(error)
    })
  } }, h("input.unseen", { autocomplete: "username", value: username, readonly: true, tabindex: "-1", "aria-hidden": "true" }), word, h("button", t.logIn), told)
}

/** Asks the server, and with that uses the session, which keeps the guest's data. */
const use = () => client.check().then(showPerson, () => {})

let person = client.session.id
client.addEventListener("session", () => {
  showPerson()
  // A new guest after no session changes nothing in the view; a change from one person to another does.
  const former = person
  person = client.session.id
  if (former && former !== person) render()
})
client.addEventListener("rejected", ({ detail }) => {
  toast(`${detail.label ?? t.aChange}: ${reason(detail)}`, {
    label: t.look, entry: detail.id, run: () => go("/outbox")
  })
})
client.addEventListener("failure", ({ detail }) => toast(reason(detail)))
client.addEventListener("update", () => toast(t.newVersion, { label: t.reload, run: () => location.reload() }))

client.addEventListener("sync", ({ detail }) => {
  if (detail.phase !== "idle" && !detail.intercepted) return
  showPerson()
  if (isNearEnd()) use()
})

if (location.search === "?network") rewrite("/")
showPerson()
if (isNearEnd()) use()
document.getElementById("sync").append(...syncButton())
/** For whoever looks into the page with the browser's console. */
export { client }

await start().catch(error => refill(document.getElementById("main"), failure(error)))
