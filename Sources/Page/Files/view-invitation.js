import { client, isUser } from "./client.js"
import { h } from "./dom.js"
import { go } from "./router.js"
import { reason } from "./reasons.js"
import { t } from "./texts.js"

/** The page of an invitation to a list. */
export async function show({ token }) {
  const told = h("p.wrong", { role: "alert" })
  const back = `?then=${encodeURIComponent(`/invitations/${encodeURIComponent(token)}`)}`
  const join = h("button.main", {
    type: "button", onclick: async () => {
      join.disabled = true
      try {
        const list = await client.acceptInvitation(token)
        await go(`/lists/${encodeURIComponent(list.id)}`, { replace: true })
      } catch (error) {
        join.disabled = false
        told.textContent = ["not_found", "invitation_gone", "gone"].includes(error.code) ? t.invitationGone : reason(error)
      }
    }
  }, t.join)
  return {
    title: t.invited, place: "lists",
    node: h("div.empty", h("h1", t.invited),
      h("p.lead", t.invitedText),
      isUser() ? h("div", h("p.section", join), told)
        : h("div", h("p.section", t.invitedAccount),
          h("div.row", h("a.button.main", { href: `/sign-up${back}` }, t.signUp), h("a.button", { href: `/log-in${back}` }, t.logIn))))
  }
}
