import { client, hear, isLoggedIn, isUser } from "./client.js"
import { h, labelled } from "./dom.js"
import { ask, toast } from "./messages.js"
import { isIssued, personName } from "./people.js"
import { go, render } from "./router.js"
import { reason } from "./reasons.js"
import { t } from "./texts.js"

/**
 * Signing up and logging in. The account takes over the guest's bookmarks in both cases. A user whose session has ended
 * logs in again here, and finds everything.
 */

const forms = {
  "/sign-up": { title: t.signUp, yes: t.signUp, other: ["/log-in", t.haveAccount], autocomplete: "new-password", comes: t.becomesYours },
  "/log-in": { title: t.logIn, yes: t.logIn, other: ["/sign-up", t.newHere], autocomplete: "current-password", comes: t.joinsYours }
}

const plain = { conflict: t.taken, unauthorized: t.wrongLogIn }

/** The path to open afterwards, from the query `then`. It accepts only paths of this origin. */
function target(query) {
  const then = query.get("then")
  return /^\/(?![/\\])/.test(then) ? then : "/bookmarks"
}

/** What is said above the form to a user whose session has ended, or to a guest. */
async function lead(text) {
  if (isUser()) {
    const waiting = (await client.outbox()).filter(entry => entry.state !== "delivered").length
    return t.personOut(personName(client.session), waiting)
  }
  const count = (await client.bookmarks()).length
  return count && t.youHave(count, text.comes)
}

/** Signs up or logs in. Asks before changes of another user are deleted. @returns The session; false if the user said no. */
async function enter(isNew, credentials) {
  const run = isNew ? client.signUp : client.logIn
  try {
    return await run.call(client, credentials)
  } catch (error) {
    if (error.code !== "outbox_not_empty") throw error
    const name = personName(client.session)
    return await ask({ title: t.notSentOf(name), text: t.lostIf(credentials.username), yes: t.enterLose, danger: true })
      && run.call(client, { ...credentials, discard: true })
  }
}

export async function show({ query }, signal) {
  const path = location.pathname.replace(/\/$/, "")
  const text = forms[path], isNew = path === "/sign-up"
  // The session may have ended since this browser asked last.
  if (isLoggedIn()) await client.check().catch(() => {})
  if (signal.aborted) return undefined
  const wasIn = isLoggedIn()
  let isBusy = false
  hear("session", signal, () => { if (!isBusy && isLoggedIn() !== wasIn) render() })
  if (wasIn) {
    return { title: text.title, place: "account", node: h("div.empty", h("h1", t.youAre(personName(client.session))), h("p.section", h("a.button", { href: "/account" }, t.yourAccount))) }
  }
  const said = await lead(text)
  const told = h("p", { id: "told", class: "wrong", role: "alert" })
  const known = !isNew && isUser() && !isIssued(client.session.username) ? client.session.username : ""
  const name = h("input", { id: "name", name: "username", value: known, required: true, autocomplete: "username", autocapitalize: "none", spellcheck: "false", "aria-describedby": "told" })
  const word = h("input", { id: "password", name: "password", type: "password", required: true, autocomplete: text.autocomplete, "aria-describedby": isNew ? "told rule" : "told" })
  const yes = h("button.main", text.yes)
  const form = h("form.form.section", {
    onsubmit: async () => {
      told.textContent = ""
      yes.disabled = isBusy = true
      try {
        const session = await enter(isNew, { username: name.value.trim(), password: word.value })
        if (session) {
          toast(session.waiting ? reason(session.waiting) : isNew ? t.welcome(session.username) : t.goodToSee(session.username))
          return await go(target(query), { replace: true })
        }
      } catch (error) {
        told.textContent = plain[error.code] ?? reason(error)
        name.focus()
      }
      yes.disabled = isBusy = false
    }
  }, told, labelled(t.name, name),
  labelled(t.password, word, isNew ? h("p.hint", { id: "rule" }, t.passwordRule) : null),
  isNew ? null : h("p.muted.small", t.forgot),
  h("div.row", yes, h("a.button", { href: text.other[0] + location.search }, text.other[1])))
  return {
    title: text.title, place: "account",
    node: h("div.narrow", h("h1", text.title), said ? h("p.note.section", said) : null, form)
  }
}
