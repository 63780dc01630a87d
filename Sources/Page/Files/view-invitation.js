import { client, isUser } from "./client.js"
import { h } from "./dom.js"
import { segment } from "./offline/server.js"
import { go } from "./router.js"
import { reason } from "./reasons.js"
import { t } from "./texts.js"

/** The page of an invitation to a list. What stands behind the # says who invites and to what; servers don't get it. */
export async function show({ token }) {
  const told = h("p.wrong", { role: "alert" })
  const { by, list } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)))
  const back = `?then=${segment(location.pathname + location.hash)}`
  const join = h("button.main", {
    onclick: async () => {
      join.disabled = true
      try {
        const { id } = await client.acceptInvitation(token)
        await go(`/lists/${segment(id)}`, { replace: true })
      } catch (error) {
        join.disabled = false
        told.textContent = error.code === "not_found" ? t.invitationGone : reason(error)
      }
    }
  }, t.join)
  return {
    title: t.invited, place: "lists",
    node: h("div.empty", h("h1", t.invited),
      h("p.lead", by ? t.listBy(by, list) : t.invitedText),
      isUser() ? h("div", h("p.section", join), told)
        : h("div", h("p.section", t.invitedAccount),
          h("div.row", h("a.button.main", { href: `/sign-up${back}` }, t.signUp), h("a.button", { href: `/log-in${back}` }, t.logIn))))
  }
}
