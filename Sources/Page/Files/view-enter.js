import { client, isUser } from "./client.js"
import { h, plural } from "./dom.js"
import { toast } from "./messages.js"
import { go } from "./router.js"
import { reason } from "./states.js"

/** Signing up and logging in. The account takes over the guest's bookmarks in both cases. */

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

export async function show({ query }) {
  const path = location.pathname.replace(/\/$/, "")
  const text = texts[path], isNew = path === "/sign-up"
  if (isUser()) {
    return { title: text.title, place: "account", node: h("div.empty", h("h1", `You are ${client.session.username}`), h("p.section", h("a.button", { href: "/account" }, "Your account"))) }
  }
  const count = (await client.bookmarks()).length
  const told = h("p", { id: "told", class: "wrong", role: "alert" })
  const name = h("input", { id: "name", name: "username", required: true, autocomplete: "username", autocapitalize: "none", spellcheck: "false", maxlength: 64, "aria-describedby": "told" })
  const word = h("input", { id: "password", name: "password", type: "password", required: true, autocomplete: text.autocomplete, "aria-describedby": isNew ? "told rule" : "told" })
  const yes = h("button.main", text.yes)
  const form = h("form.form.section", {
    onsubmit: async event => {
      event.preventDefault()
      told.textContent = ""
      yes.disabled = true
      try {
        await (isNew ? client.signUp : client.logIn).call(client, { username: name.value, password: word.value })
        toast(isNew ? `Welcome, ${client.session.username}.` : `Good to see you, ${client.session.username}.`)
        await go(target(query), { replace: true })
      } catch (error) {
        told.textContent = plain[error.code] ?? reason(error)
        yes.disabled = false
        name.focus()
      }
    }
  }, told, h("div", h("label", { for: "name" }, "Name"), name),
  h("div", h("label", { for: "password" }, "Password"), word, isNew ? h("p.hint", { id: "rule" }, "Eight characters or more; a few words are easier to remember than signs.") : null),
  h("div.row", yes, h("a.button", { href: text.other[0] + (query.has("then") ? `?then=${encodeURIComponent(query.get("then"))}` : "") }, text.other[1])))
  return {
    title: text.title, place: "account",
    node: h("div.narrow", h("h1", text.title), count ? h("p.note.section", `You have ${plural(count, "bookmark")} here. ${text.comes}`) : null, form)
  }
}
