import { client, isUser } from "./client.js"
import { h } from "./dom.js"
import { go } from "./router.js"
import { reason } from "./reasons.js"

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
        told.textContent = ["not_found", "invitation_gone", "gone"].includes(error.code) ? "This invitation has been used, withdrawn or is too old. Ask for a new one." : reason(error)
      }
    }
  }, "Join the list")
  return {
    title: "You are invited", place: "lists",
    node: h("div.empty", h("h1", "You are invited"),
      h("p.lead", "You are invited to plan a trip together."),
      isUser() ? h("div", h("p.section", join), told)
        : h("div", h("p.section", "For that you need an account. What you have bookmarked as a guest comes along."),
          h("div.row", h("a.button.main", { href: `/sign-up${back}` }, "Sign up"), h("a.button", { href: `/log-in${back}` }, "Log in"))))
  }
}
