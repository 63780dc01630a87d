import { client, hear, isLoggedIn, isUser } from "./client.js"
import { h, plural } from "./dom.js"
import { ask, toast } from "./messages.js"
import { isIssued, personName } from "./people.js"
import { go, render } from "./router.js"
import { reason } from "./reasons.js"

/**
 * Signing up and logging in. The account takes over the guest's bookmarks in both cases. A user whose session has ended
 * logs in again here, and finds everything.
 */

const texts = {
  "/sign-up": { title: "Sign up", yes: "Sign up", other: ["/log-in", "I have an account"], autocomplete: "new-password", comes: "What you have bookmarked becomes your account's." },
  "/log-in": { title: "Log in", yes: "Log in", other: ["/sign-up", "I am new here"], autocomplete: "current-password", comes: "What you have bookmarked here joins your account's bookmarks. For a day you can undo that." }
}

const plain = { conflict: "This name is taken. Choose another one.", taken: "This name is taken. Choose another one.", unauthorized: "The name or the password is wrong." }

/** The path to open afterwards, from the query `then`. It accepts only paths of this origin. */
function target(query) {
  const then = query.get("then") ?? ""
  return /^\/(?![/\\])/.test(then) ? then : "/bookmarks"
}

/** What is said above the form to a user whose session has ended, or to a guest. */
async function lead(text) {
  if (isUser()) {
    const waiting = (await client.outbox()).filter(entry => entry.state !== "delivered").length
    const name = personName(client.session)
    return `${name} has been logged out here. `
      + (waiting ? `${plural(waiting, "change")} of ${name} ${waiting === 1 ? "waits" : "wait"}, and will be sent when ${name} logs in again.`
        : `What ${name} keeps here is shown again after logging in.`)
  }
  const count = (await client.bookmarks()).length
  return count ? `You have ${plural(count, "bookmark")} here. ${text.comes}` : null
}

/** Signs up or logs in. Asks before changes of another user are deleted. @returns {Promise<boolean>} False: the user said no. */
async function enter(isNew, credentials) {
  const run = isNew ? client.signUp : client.logIn
  try {
    await run.call(client, credentials)
  } catch (error) {
    if (error.code !== "outbox_not_empty") throw error
    const name = personName(client.session)
    if (!await ask({ title: `Some changes of ${name} are not on the server yet`, text: `If ${credentials.username} enters here, they are lost.`, yes: "Enter and lose them", danger: true })) return false
    await run.call(client, { ...credentials, discard: true })
  }
  return true
}

export async function show({ query }, signal) {
  const path = location.pathname.replace(/\/$/, "")
  const text = texts[path], isNew = path === "/sign-up"
  // The session may have ended since this browser asked last.
  if (isLoggedIn()) await client.check().catch(() => {})
  if (signal.aborted) return undefined
  const wasIn = isLoggedIn()
  let isBusy = false
  hear("session", signal, () => { if (!isBusy && isLoggedIn() !== wasIn) render() })
  if (wasIn) {
    return { title: text.title, place: "account", node: h("div.empty", h("h1", `You are ${personName(client.session)}`), h("p.section", h("a.button", { href: "/account" }, "Your account"))) }
  }
  const said = await lead(text)
  const told = h("p", { id: "told", class: "wrong", role: "alert" })
  const known = !isNew && isUser() && !isIssued(client.session.username) ? client.session.username : ""
  const name = h("input", { id: "name", name: "username", value: known, required: true, autocomplete: "username", autocapitalize: "none", spellcheck: "false", "aria-describedby": "told" })
  const word = h("input", { id: "password", name: "password", type: "password", required: true, autocomplete: text.autocomplete, "aria-describedby": isNew ? "told rule" : "told" })
  const yes = h("button.main", text.yes)
  const form = h("form.form.section", {
    onsubmit: async event => {
      event.preventDefault()
      told.textContent = ""
      yes.disabled = isBusy = true
      try {
        if (await enter(isNew, { username: name.value, password: word.value })) {
          toast(isNew ? `Welcome, ${client.session.username}.` : `Good to see you, ${client.session.username}.`)
          return await go(target(query), { replace: true })
        }
      } catch (error) {
        told.textContent = plain[error.code] ?? reason(error)
        name.focus()
      }
      yes.disabled = isBusy = false
    }
  }, told, h("div", h("label", { for: "name" }, "Name"), name),
  h("div", h("label", { for: "password" }, "Password"), word, isNew ? h("p.hint", { id: "rule" }, "Eight characters or more; a few words are easier to remember than signs.") : null),
  isNew ? null : h("p.muted.small", "Forgot the password? Whoever runs this server can give you a link with which you choose another one."),
  h("div.row", yes, h("a.button", { href: text.other[0] + (query.has("then") ? `?then=${encodeURIComponent(query.get("then"))}` : "") }, text.other[1])))
  return {
    title: text.title, place: "account",
    node: h("div.narrow", h("h1", text.title), said ? h("p.note.section", said) : null, form)
  }
}
