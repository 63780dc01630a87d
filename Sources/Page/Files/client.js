import { showFrame } from "./frame.js"
import { open } from "./offline.js"
import { failure } from "./states.js"

// Before anything can fail.
showFrame()

/** The page's client for bookmarks, lists and the server. All modules of the page share it. */
export const client = await open({ worker: true }).catch(error => {
  document.getElementById("main").replaceChildren(failure(error, () => location.reload()))
  throw error
})

/** Adds an event listener until the view is left. */
export const hear = (event, signal, listener) => client.addEventListener(event, listener, { signal })

/**
 * Calls `renew` after changes of some places, until the view is left. Calls never overlap; a change during a call leads
 * to one more call.
 * @param {string[]} places `own`, `lists` and ids of lists.
 */
export function follow(places, signal, renew) {
  let isRunning = false
  let isWanted = false
  const run = async () => {
    isWanted = true
    if (isRunning) return
    isRunning = true
    while (isWanted && !signal.aborted) {
      isWanted = false
      await renew().catch(() => {})
    }
    isRunning = false
  }
  hear("change", signal, event => { if (event.detail.places.some(place => places.includes(place))) run() })
}

/** Whether what is kept here is a user's, not a guest's. The user's session may have ended. */
export const isUser = () => client.session.kind === "user"

/** Whether a user is logged in, as far as this browser knows. */
export const isLoggedIn = () => isUser() && client.session.state === "active"
