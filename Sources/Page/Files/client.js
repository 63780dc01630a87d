import { open } from "/offline.js"

/** The page's one way to bookmarks, lists and the server. Everything else asks for it here. */
export const client = await open()

/** Calls for each event of a kind until the view has gone. */
export const hear = (event, signal, listener) => client.addEventListener(event, listener, { signal })

/**
 * Calls after changes of some places, until the view has gone; never twice at once, and once more if something changed
 * meanwhile.
 * @param {string[]} places `own`, `lists` and ids of lists.
 */
export function follow(places, signal, renew) {
  let isRunning = false, isWanted = false
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

/** Whether there is an account, not just a guest. */
export const isUser = () => client.session.kind === "user"
