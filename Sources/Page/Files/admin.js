/** The operator's page. Before the sign-in it shows only the form for it. The hash of the URL names the panel. */
import { h } from "./dom.js"
import { ask, Refusal } from "./admin-api.js"
import { browser } from "./admin-browser.js"
import { overview, upstreams } from "./admin-server.js"
import { audit, guests, lists, sessions, stores, users } from "./admin-tables.js"
import { work } from "./admin-work.js"

const main = document.getElementById("main")
const nav = document.getElementById("nav")
const who = document.getElementById("session")
const said = document.getElementById("say")

const panels = {
  server: ["Server", overview], stores: ["Stores", stores], users: ["Users", place => users(place, say)], guests: ["Guests", guests], lists: ["Lists", lists],
  sessions: ["Sessions", sessions], audit: ["Audit", audit], upstreams: ["Upstreams", upstreams], work: ["Work", (place, signal) => work(place, signal, say)],
  databases: ["Databases", (place, _, parts) => browser(place, parts)],
}
let leaving = new AbortController()
let isIn = false

addEventListener("hashchange", () => { if (isIn && location.hash !== "#main") show(true) })
await begin()

async function begin() {
  try {
    const { userCtx } = await ask("/couch/_session")
    if (userCtx.roles.includes("_admin")) enter()
    else logIn(userCtx.name)
  } catch (error) { failed(main, error, begin) }
}

/** Shows a message for four seconds. */
function say(words) {
  said.replaceChildren(h("p", null, words))
  setTimeout(() => said.replaceChildren(), 4000)
}

function logIn(present) {
  isIn = false
  leaving.abort()
  nav.hidden = true
  who.replaceChildren()
  document.title = "Operator · Hotel Bookmarks"
  const name = h("input", { id: "name", autocomplete: "username", value: "admin", required: true, autocapitalize: "none", spellcheck: "false" })
  const password = h("input", { id: "password", type: "password", autocomplete: "current-password", required: true })
  const wrong = h("p", { class: "wrong", role: "alert" })
  const button = h("button", { class: "main", type: "submit" }, "Sign in")
  main.replaceChildren(h("section", { class: "login" }, h("h1", { tabindex: "-1" }, "Operator"),
    h("p", { class: "lead" }, "This page is for whoever runs the server. The password was printed when it started for the first time, or is in the file that its settings name."),
    present && h("p", { class: "note small" }, "This browser is signed in as another user. If you go on, that session ends here."),
    h("form", {
      onsubmit: async event => {
        event.preventDefault()
        button.disabled = true
        wrong.textContent = ""
        try {
          const answer = await ask("/couch/_session", { method: "POST", body: JSON.stringify({ name: name.value, password: password.value }), headers: { "Content-Type": "application/json" } })
          if (!answer.roles.includes("_admin")) {
            await ask("/couch/_session", { method: "DELETE" })
            throw new Refusal(403, "This user is not the administrator.")
          }
          enter()
        } catch (error) {
          wrong.textContent = error.message
          password.value = ""
          password.focus()
        }
        button.disabled = false
      },
    }, h("div", null, h("label", { for: "name" }, "Name"), name), h("div", null, h("label", { for: "password" }, "Password"), password), wrong, button)))
  password.focus()
}

function enter() {
  isIn = true
  nav.hidden = false
  nav.replaceChildren(...Object.entries(panels).map(([key, [words]]) => h("a", { href: `#/${key}`, "data-panel": key }, words)))
  who.replaceChildren(h("button", { class: "quiet", type: "button", onclick: async () => { await ask("/couch/_session", { method: "DELETE" }).catch(() => {}); logIn() } }, "Sign out"))
  show(true)
}

/** Shows the panel that the hash names. */
async function show(moves) {
  leaving.abort()
  leaving = new AbortController()
  const mine = leaving.signal
  const [key = "server", ...parts] = location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decoded)
  const [words, panel] = panels[key] ?? panels.server
  for (const link of nav.children) {
    if (link.dataset.panel === (panels[key] ? key : "server")) { link.setAttribute("aria-current", "page"); link.scrollIntoView({ block: "nearest", inline: "nearest" }) }
    else link.removeAttribute("aria-current")
  }
  document.title = `${words} · Operator · Hotel Bookmarks`
  const place = h("div")
  const waiting = setTimeout(() => main.replaceChildren(h("p", { class: "none", role: "status" }, "Just a moment …")), 200)
  try {
    await panel(place, mine, parts)
    if (mine.aborted) return
    main.replaceChildren(place)
    if (moves) { scrollTo(0, 0); main.querySelector("h1")?.focus({ preventScroll: true }) }
  } catch (error) {
    if (!mine.aborted) failed(main, error, () => show(true))
  } finally { clearTimeout(waiting) }
}

/** A part of the hash, percent-decoded; unchanged if it can't be decoded. */
function decoded(part) {
  try { return decodeURIComponent(part) } catch { return part }
}

async function failed(place, error, again) {
  if (isIn && error.status === 404) {
    const session = await ask("/couch/_session").catch(() => undefined)
    if (session && !session.userCtx.roles.includes("_admin")) return logIn()
  }
  place.replaceChildren(h("div", { class: "note bad", role: "alert" }, h("p", null, error.status === 404 ? "There is nothing here." : error.message), h("p", null, h("button", { type: "button", onclick: again }, "Try again"))))
}
