import { client } from "./client.js"
import { h, time } from "./dom.js"
import { isIssued, personName } from "./people.js"
import { reason } from "./reasons.js"
import { failure } from "./states.js"
import { toast } from "./messages.js"
import { go, rewrite, route, start, render } from "./router.js"
import { syncButton } from "./sync.js"

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

const isNearEnd = () => Date.parse(client.session.keptUntil) - warning < Date.now()

function showPerson() {
  const { state, kind, keptUntil } = client.session
  document.getElementById("who").textContent = kind === "user" ? personName(client.session) : "You"
  const banner = document.getElementById("banner"), { intercepted } = client.sync
  banner.hidden = !intercepted && state !== "ended" && !isNearEnd()
  if (intercepted) {
    banner.replaceChildren("Something between this browser and the server answers in its place. It may ask you to log in. What you change here is kept. ",
      h("a", { href: network, target: "_self" }, "Open its page"))
  } else if (state === "ended") {
    if (!banner.contains(document.activeElement)) banner.replaceChildren("You have been logged out. What you changed here is kept until you log in again. ", again())
  } else if (isNearEnd()) {
    banner.replaceChildren("Your bookmarks have not been used at the server for a long time. It erases them on ", time(keptUntil),
      " unless you open this page with a network before. ", h("a", { href: "/account" }, "Your account"))
  }
}

/** Logs the same user in again, without leaving the view. */
function again() {
  const { username } = client.session
  if (isIssued(username)) return h("a", { href: "/log-in" }, "Log in")
  const word = h("input", { id: "again", type: "password", required: true, autocomplete: "current-password", placeholder: "Password", "aria-label": `Password of ${username}`, "aria-describedby": "again-told" })
  const told = h("span.wrong", { id: "again-told", role: "alert" })
  return h("form.row", { onsubmit: async event => {
    event.preventDefault()
    told.textContent = ""
    await client.logIn({ username, password: word.value }).catch(error => {
      told.textContent = error.code === "unauthorized" ? "The password is wrong." : reason(error)
    })
  } }, h("input.unseen", { autocomplete: "username", value: username, readonly: true, tabindex: "-1", "aria-hidden": "true" }), word, h("button", "Log in"), told)
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
  toast(`${detail.label ?? "A change"}: ${reason(detail)}`, {
    label: "Look", run: () => go("/outbox")
  })
})
client.addEventListener("failure", ({ detail }) => toast(reason(detail)))
client.addEventListener("update", () => toast("There is a new version of this page.", { label: "Reload", run: () => location.reload() }))

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

await start().catch(error => document.getElementById("main").replaceChildren(failure(error)))
