import { client } from "./client.js"
import { h, labelled } from "./dom.js"
import { toast } from "./messages.js"
import { go, render } from "./router.js"
import { reason } from "./reasons.js"
import { t } from "./texts.js"

/** Another password, with the link that the operator has given to somebody who forgot the old one. */
export async function show(_, signal) {
  // Another link in the same tab.
  addEventListener("hashchange", () => render(), { signal })
  // The token stands behind the `#`, so that no server and no log sees it before the form is sent.
  const token = location.hash.slice(1)
  const view = (lead, rest) => ({ title: t.otherPassword, place: "account",
    node: h("div.narrow", h("h1", t.otherPassword), h("p.lead", lead), rest ?? h("p.section", h("a.button", { href: "/log-in" }, t.logIn))) })
  if (!token) return view(t.resetText)
  // A link that was used or is too old has no form. No password is empty, so that this changes none.
  const isDead = await client.resetPassword({ token, password: "" }).catch(({ code }) => code === "unauthorized")
  if (isDead) return view(t.linkUsed)
  const told = h("p", { id: "told", class: "wrong", role: "alert" })
  const word = h("input", { id: "password", type: "password", required: true, autocomplete: "new-password", "aria-describedby": "told rule" })
  const yes = h("button.main", t.keepPassword)
  const form = h("form.form.section", {
    onsubmit: async () => {
      told.textContent = ""
      yes.disabled = true
      try {
        await client.resetPassword({ token, password: word.value })
        toast(t.resetDone)
        return await go("/log-in", { replace: true })
      } catch (error) {
        if (error.code === "unauthorized") return await render()
        told.textContent = reason(error)
        word.focus()
      }
      yes.disabled = false
    }
  }, told, labelled(t.newPassword, word, h("p.hint", { id: "rule" }, t.passwordRule)),
  h("div.row", yes))
  return view(t.resetLead, form)
}
