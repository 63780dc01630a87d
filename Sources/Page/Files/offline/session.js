import { everything } from "./database.js"
import { OfflineError } from "./error.js"
import { call } from "./server.js"

/** For how long it is believed that the cookie is still this person's, in milliseconds. */
const belief = 60_000

const copies = ["bookmarks", "orders", "lists", "notes", "drafts"]

/** Who uses this browser: kept in the database by id and name, proved to the server by a cookie no script can read. */
export class Session {
  #database; #tabs; #outbox; #view; #changed; #provedAt = 0; #isLoggedOut = false
  /** @type {import("../offline.js").Session} */
  state = { state: "none" }

  constructor({ database, tabs, outbox, view, changed }) {
    this.#database = database
    this.#tabs = tabs
    this.#outbox = outbox
    this.#view = view
    this.#changed = changed
  }

  /** Reads who it is: at first, and when another tab says that it is somebody else. */
  async load() {
    this.state = await this.#database.meta("session") ?? { state: "none" }
    return this.state
  }

  /** Another tab has logged out: no guest is made until somebody asks for it. */
  rest() { this.#isLoggedOut = true }

  /** Somebody writes, so a guest is wanted. */
  wake() { this.#isLoggedOut = false }

  /** Makes sure, before a round, that the cookie is this person's. @returns {Promise<boolean>} Whether there is one. */
  async ensure() {
    if (await this.#database.meta("ending")) {
      await call("DELETE", "/v1/sessions").catch(ignoringEnd)
      await this.#database.setMeta("ending", undefined)
    }
    if (this.state.state === "none") {
      if (this.#isLoggedOut) return false
      await this.#begin()
    } else if (this.state.state === "active" && Date.now() - this.#provedAt > belief) {
      await this.#prove()
    }
    return this.state.state === "active"
  }

  /** Starts a guest. */
  async start() {
    this.wake()
    return this.#tabs.exclusive(async () => {
      await this.ensure()
      return this.state
    })
  }

  /** Signs up or logs in. The server takes the guest from the cookie. */
  async enter(path, { username, password, discard = false }) {
    this.wake()
    return this.#tabs.exclusive(async () => {
      await this.load()
      const { state, kind, username: former } = this.state
      if (kind === "user" && state === "active") throw new OfflineError("signed_in", "Log out first.")
      if (kind === "user" && former !== username && !discard) await this.#requireEmpty()
      if (state === "none") await this.#begin()
      // What was done as a guest belongs to the guest, so that it is taken over with the rest.
      else if (kind === "guest") await this.#outbox.send(() => {}).catch(() => {})
      const ask = () => call("POST", path, { body: { username, password, cookie: true } })
      const { body } = await ask().catch(async error => {
        // 401 is also the answer to a wrong password, but signing up has none.
        if (!error.isSessionEnd || path !== "/v1/users") throw error
        await call("POST", "/v1/guests", { body: { cookie: true } })
        return ask()
      })
      await this.#become({ state: "active", id: body.id, kind: "user", username: body.username })
      return this.state
    })
  }

  /** Ends the session. Nothing of the person stays here, also when the server can't be reached: it is told later. */
  async leave({ discard = false, erase } = {}) {
    return this.#tabs.exclusive(async () => {
      if (!discard && !erase) await this.#requireEmpty()
      let ending
      const [method, path] = erase ? ["DELETE", `/v1/me?lists=${erase}`] : ["DELETE", "/v1/sessions"]
      await call(method, path).catch(error => {
        if (erase && !error.isSessionEnd) throw error
        if (error.isOffline) ending = true
        else ignoringEnd(error)
      })
      await this.#database.write(everything, async transaction => {
        for (const store of everything) await transaction.clear(store)
        if (ending) await transaction.setMeta("ending", true)
      })
      try {
        localStorage.clear()
        sessionStorage.clear()
      } catch { /* Storage that is not there holds nothing. */ }
      if ("caches" in globalThis) for (const name of await caches.keys()) await caches.delete(name)
      this.rest()
      this.#tabs.post({ kind: "rest" })
      await this.#tell()
    })
  }

  /** The server has said that the session is none. A guest's bookmarks go on with the next guest. */
  async end() {
    if (this.state.state !== "active") return
    if (this.state.kind === "user") return this.#store({ ...this.state, state: "ended" })
    const bookmarks = await this.#view.bookmarks()
    for (const { id, hotel, pending } of bookmarks.reverse()) {
      // What waits in the outbox goes to the next guest by itself.
      if (!pending) await this.#outbox.add({ action: "bookmark", subject: id, hotel, label: hotel.name })
    }
    await this.#database.write(["meta", ...copies], async transaction => {
      for (const store of copies) await transaction.clear(store)
      for (const key of ["session", "feed"]) await transaction.setMeta(key, undefined)
    })
    await this.#tell()
  }

  async #begin() {
    const { body } = await call("POST", "/v1/guests", { body: { cookie: true } })
    await this.#become({ state: "active", id: body.id, kind: body.kind, username: body.username })
  }

  async #prove() {
    try {
      const { body } = await call("GET", "/v1/me")
      this.#provedAt = Date.now()
      if (body.id !== this.state.id) {
        await this.#become({ state: "active", id: body.id, kind: body.kind, username: body.username })
      }
    } catch (error) {
      if (!error.isSessionEnd) throw error
      await this.end()
      if (this.state.state === "none") await this.#begin()
    }
  }

  async #become(next) {
    this.#provedAt = Date.now()
    await this.#database.write(["meta", "outbox", ...copies], async transaction => {
      const former = await transaction.get("meta", "session")
      await transaction.setMeta("session", next)
      if (former?.id === next.id) return
      await transaction.setMeta("feed", undefined)
      if (former?.kind === "user") {
        // Another person: what the former one had here and had not sent must not be sent as the new one.
        for (const store of ["outbox", ...copies]) await transaction.clear(store)
        await transaction.setMeta("aliases", undefined)
        return
      }
      // A guest's bookmarks are the user's from now on; they stay in sight until the user's own copy is here.
      const order = await transaction.get("orders", "own")
      if (order) await transaction.put("orders", { ...order, token: undefined })
    })
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

  async #requireEmpty() {
    const waiting = (await this.#outbox.entries()).filter(entry => entry.state !== "delivered")
    if (waiting.length) {
      throw new OfflineError(
        "outbox_not_empty", `${waiting.length} of your changes have not reached the server: send or drop them first.`)
    }
  }
}

function ignoringEnd(error) {
  if (!error.isSessionEnd) throw error
}
