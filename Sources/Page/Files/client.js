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

/** Whether what the server has is fetched for the first time: until then nothing is known to be missing. */
export const isFirstRound = () => !client.sync.lastSync && client.sync.phase === "syncing"

/**
 * Calls `renew` after changes of some places and after the first round, until the view is left. Calls never overlap; a change during a call leads
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
  whenFirstRoundEnds(signal, run)
}

/** Calls `work` when {@link isFirstRound} changes, until the view is left. */
export function whenFirstRoundEnds(signal, work) {
  let was = isFirstRound()
  hear("sync", signal, () => { if (was !== (was = isFirstRound())) work() })
}

/** Whether what is kept here is a user's, not a guest's. The user's session may have ended. */
export const isUser = () => client.session.kind === "user"

/** Whether a user is logged in, as far as this browser knows. */
export const isLoggedIn = () => isUser() && client.session.state === "active"
