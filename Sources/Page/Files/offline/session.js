import { everything } from "./database.js"
import { OfflineError } from "./error.js"
import { call, isElsewhere } from "./server.js"

/** How long the cookie counts as this user's after the last check, in milliseconds. */
const belief = 60_000

const copies = ["bookmarks", "orders", "lists", "notes", "drafts"]

/** The user of this browser. The database has the id and the name; the proof is a cookie that no script can read. */
export class Session {
  #database; #tabs; #outbox; #view; #changed; #provedAt = 0; #isLoggedOut = false
  /** @type {import("../offline.d.ts").Session} */
  state = { state: "none" }

  constructor(parts) {
    ({ database: this.#database, tabs: this.#tabs, outbox: this.#outbox, view: this.#view, changed: this.#changed } = parts)
  }

  /** Reads the session from the database: at the start, and when another tab has changed it. */
  async load() {
    this.state = await this.#database.meta("session") ?? { state: "none" }
    return this.state
  }

  /** Stops starting guests after a log-out in any tab, until {@link Session#wake}. */
  rest() { this.#isLoggedOut = true }

  /** Allows starting a guest again, because the user writes or logs in. */
  wake() { this.#isLoggedOut = false }

  /** Checks before a round that the cookie is this user's. @returns {Promise<boolean>} Whether a session is active. */
  async ensure() {
    await this.#finish()
    if (this.state.state === "active" && Date.now() - this.#provedAt > belief) await this.#prove()
    if (this.state.state === "none") {
      if (this.#isLoggedOut) return false
      await this.#begin()
    }
    return this.state.state === "active"
  }

  /** Ends the session of a log-out without a network, before there is another one: both have the same cookie. */
  async #finish() {
    if (!await this.#database.meta("ending")) return
    await call("DELETE", "/v1/sessions").catch(ignoringEnd)
    await this.#database.setMeta("ending", undefined)
  }

  /** Asks the server whether the cookie is still this user's. */
  async check() {
    return this.#tabs.exclusive(async () => {
      await this.load()
      if (this.state.state !== "none") await this.#prove()
      return this.state
    })
  }

  /** Starts a guest. */
  async start() {
    this.wake()
    return this.#tabs.exclusive(async () => {
      await this.ensure()
      return this.state
    })
  }

  /**
   * Signs up or logs in. The server takes the guest from the cookie. A user whose session has ended may log in again,
   * and so may another user, if no changes wait or they are to be deleted (`discard`).
   */
  async enter(path, { username, password, discard = false }) {
    this.wake()
    return this.#tabs.exclusive(async () => {
      await this.load()
      await this.#finish()
      // The database may not know yet that the session has ended.
      if (this.state.state !== "none") await this.#prove().catch(error => { if (error.isOffline) throw error })
      const { state, kind, id: former } = this.state
      if (kind === "user" && state === "active") throw new OfflineError("signed_in", "Log out first.")
      const isOthers = id => kind === "user" && !discard && id !== former
      if (path === "/v1/users" && isOthers()) await this.#requireEmpty()
      // The guest's unsent changes are sent as the guest, so that the user takes them over with the other bookmarks.
      if (kind === "guest") await this.#outbox.send(() => {}).catch(() => {})
      const { body } = await call("POST", path, { body: { username, password, cookie: true } })
      if (isOthers(body.id) && (await this.#waiting()).length) {
        await call("DELETE", "/v1/sessions").catch(ignoringEnd)
        await this.#requireEmpty()
      }
      await this.#become({ state: "active", id: body.id, kind: "user", username: body.username })
      return { ...this.state, waiting: body.waiting }
    })
  }

  /**
   * Ends the session and removes all data of the user from this browser. If the server can't be reached, or can't do it
   * now, a log-out is reported to it later; with `erase` (delete the account) or `everywhere` (end all sessions of the
   * user), this throws and changes nothing.
   */
  async leave({ discard = false, erase, everywhere } = {}) {
    return this.#tabs.exclusive(async () => {
      if (!discard && !erase) await this.#requireEmpty()
      let ending
      const path = erase ? `/v1/me?lists=${erase}` : everywhere ? "/v1/sessions?all=true" : "/v1/sessions"
      await call("DELETE", path).catch(error => {
        if (error.isSessionEnd) return
        if (erase || everywhere || error.status < 500 && !error.mayPass) throw error
        ending = true
      })
      await this.#database.write(everything, async transaction => {
        for (const store of everything) await transaction.clear(store)
        if (ending) await transaction.setMeta("ending", true)
      })
      if (!isElsewhere()) await clearOrigin()
      this.rest()
      this.#tabs.post({ kind: "rest" })
      await this.#tell()
    })
  }

  /** Handles the server's answer that the session is invalid. A guest's bookmarks are queued for the next guest. */
  async end() {
    if (this.state.state !== "active") return
    if (this.state.kind === "user") return this.#store({ ...this.state, state: "ended" })
    const bookmarks = await this.#view.bookmarks()
    for (const { id, hotel, pending } of bookmarks.reverse()) {
      // A pending bookmark already has its entry in the outbox.
      if (!pending) await this.#outbox.add({ action: "bookmark", subject: id, hotel, body: hotel, label: hotel.name })
    }
    await this.#database.write(["meta", ...copies], async transaction => {
      for (const store of copies) await transaction.clear(store)
      for (const key of ["session", "feed"]) await transaction.setMeta(key, undefined)
    })
    await this.#tell()
  }

  async #begin() {
    const { body } = await call("POST", "/v1/guests", { body: { cookie: true } })
    await this.#become(active(body))
  }

  /** Stores until when the server keeps the guest's data, and a user's display name. */
  async #keep(body) {
    const next = active(body)
    if (next.displayName !== this.state.displayName) return this.#store(next)
    if (next.keptUntil === this.state.keptUntil) return
    await this.#database.setMeta("session", next)
    this.state = next
  }

  async #prove() {
    const { id, kind, state } = this.state
    try {
      const { body } = await call("GET", "/v1/me")
      this.#provedAt = Date.now()
      if (body.id === id && state === "active") return this.#keep(body)
      // Another person has logged in without this module. The waiting changes are not that person's.
      if (body.id !== id && kind === "user" && (state === "ended" || (await this.#waiting()).length)) return this.end()
      await this.#become(active(body))
    } catch (error) {
      // 403: the cookie is the administrator's, who has no bookmarks.
      if (!error.isSessionEnd && !(error.status === 403 && kind === "user")) throw error
      await this.end()
    }
  }

  async #become(next) {
    this.#provedAt = Date.now()
    const all = ["outbox", "found", "photos", ...copies]
    let isOthers
    await this.#database.write(["meta", ...all], async transaction => {
      const former = await transaction.get("meta", "session")
      await transaction.setMeta("session", next)
      if (former?.id === next.id) return
      for (const key of ["feed", "lastSync"]) await transaction.setMeta(key, undefined)
      if ((isOthers = former?.kind === "user")) {
        // The changes of the former user must not be sent as another user, who also gets nothing of what was kept here.
        for (const store of all) await transaction.clear(store)
        await transaction.setMeta("aliases", undefined)
        return
      }
      // The guest's bookmarks are now the user's. They stay readable until the user's mirror is fetched.
      const order = await transaction.get("orders", "own")
      if (order) await transaction.put("orders", { ...order, token: undefined })
    })
    if (isOthers && !isElsewhere()) await clearOrigin()
    await this.#tell()
  }

  async #store(state) {
    await this.#database.setMeta("session", state)
    await this.#tell()
  }

  async #tell() {
    await this.load()
    this.#tabs.post({ kind: "session" })
    this.#changed(this.state)
  }

  /** The changes that the server does not have. */
  async #waiting() { return (await this.#outbox.entries()).filter(entry => entry.state !== "delivered") }

  async #requireEmpty() {
    const { length } = await this.#waiting()
    if (length) {
      throw new OfflineError(
        "outbox_not_empty", `${length} of your changes have not reached the server: send or drop them first.`)
    }
  }
}

/** The session of an answer. A guest's data is kept as long as the newest token is valid. */
function active({ id, kind, username, displayName, expiresAt }) {
  return { state: "active", id, kind, username, displayName, ...(kind === "guest" && { keptUntil: expiresAt }) }
}

/**
 * Removes what this origin keeps besides the database, but not the app's own files: they are nobody's, and the next user
 * of this browser opens the app without a network, too. Another origin's page keeps things of its own there.
 */
async function clearOrigin() {
  try {
    localStorage.clear()
    sessionStorage.clear()
  } catch {
    // Without storage there is nothing to clear.
  }
  if ("caches" in globalThis) for (const name of await caches.keys()) if (!name.startsWith("page")) await caches.delete(name)
}

function ignoringEnd(error) {
  if (!error.isSessionEnd) throw error
}
