import { client } from "./client.js"
import { h } from "./dom.js"
import { toast } from "./messages.js"
import { go } from "./router.js"
import { reason } from "./reasons.js"

/** Another password, with the link that the operator has given to somebody who forgot the old one. */

const plain = { unauthorized: "This link was used before, or it is older than a day. Ask for another one.", invalid_token: "This link was used before, or it is older than a day. Ask for another one." }

export async function show() {
  // The token stands behind the `#`, so that no server and no log sees it before the form is sent.
  const token = location.hash.slice(1)
  if (!token) {
    return { title: "Another password", place: "account", node: h("div.narrow", h("h1", "Another password"),
      h("p.lead", "If you forgot your password, ask whoever runs this server for a link to this page. With it you choose another one."),
      h("p.section", h("a.button", { href: "/log-in" }, "Log in"))) }
  }
  const told = h("p", { id: "told", class: "wrong", role: "alert" })
  const word = h("input", { id: "password", type: "password", required: true, autocomplete: "new-password", "aria-describedby": "told rule" })
  const yes = h("button.main", "Keep this password")
  const form = h("form.form.section", {
    onsubmit: async event => {
      event.preventDefault()
      told.textContent = ""
      yes.disabled = true
      try {
        await client.resetPassword({ token, password: word.value })
        toast("The password is changed. Log in with it.")
        return await go("/log-in", { replace: true })
      } catch (error) {
        told.textContent = plain[error.code] ?? reason(error)
        word.focus()
      }
      yes.disabled = false
    }
  }, told, h("div", h("label", { for: "password" }, "New password"), word, h("p.hint", { id: "rule" }, "Eight characters or more; a few words are easier to remember than signs.")),
  h("div.row", yes))
  return { title: "Another password", place: "account", node: h("div.narrow", h("h1", "Another password"),
    h("p.lead", "Every device that is logged in has to log in again with it."), form) }
}
