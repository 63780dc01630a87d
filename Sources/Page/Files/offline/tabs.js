import { randomID } from "./server.js"

/** How long a lease of the leading tab is good without Web Locks, in milliseconds; renewed three times as often. */
const lease = 6000
/** After how long another tab that sends is taken to sleep, in milliseconds: more than a request may take. */
const turn = 45_000
/** How long the leading tab may take to say that it is awake, in milliseconds: phones put tabs to sleep. */
const patience = 3000

/**
 * The tabs of this browser: what one tells the others, and which of them speaks with the server.
 *
 * The leader holds a Web Lock; when its tab goes, the browser hands the lock on. Where there are no Web Locks (pages that
 * came by plain HTTP) a lease in the database does, and two may lead for a moment: both send the same keys, so nothing
 * is done twice.
 */
export class Tabs {
  #channel; #database; #hear; #asleep; #displace; #held
  #serial = Promise.resolve()
  #closed = new AbortController()
  /** This tab's name. */
  id = randomID()
  /** Whether this tab leads. */
  leads = false

  /** @param {(message: object) => void} hear Is told what other tabs post. */
  constructor(database, hear) {
    this.#database = database
    this.#hear = hear
    if (typeof BroadcastChannel === "undefined") return
    this.#channel = new BroadcastChannel("hotel-bookmarks")
    this.#channel.onmessage = event => this.#take(event.data)
  }

  /** Tells all other tabs. */
  post(message) { if (!this.#closed.signal.aborted) this.#channel?.postMessage(message) }

  /** Has the leading tab hear this: itself, or another, which is displaced if it sleeps. */
  tellLeader(message) {
    if (this.leads) return this.#hear(message)
    this.post({ ...message, wake: true })
    if (!navigator.locks || document.visibilityState !== "visible") return
    this.#asleep ??= setTimeout(() => this.#displace?.(message), patience)
  }

  #take(message) {
    if (message.kind === "awake") {
      clearTimeout(this.#asleep)
      this.#asleep = undefined
      return
    }
    if (message.wake) {
      if (!this.leads) return
      this.post({ kind: "awake" })
    }
    this.#hear(message)
  }

  /**
   * Runs something while this tab leads, as often as it comes to lead.
   * @param {(signal: AbortSignal) => Promise} work Ends soon after the signal.
   */
  lead(work) {
    if (navigator.locks) this.#leadByLock(work)
    else this.#leadByLease(work)
  }

  #leadByLock(work) {
    const hold = options => navigator.locks.request("hotel-bookmarks-leader", options, () => this.#work(work, this.#closed.signal))
      // Another tab has displaced this one, or this one is closed.
      .catch(() => {
        this.#held?.abort()
        if (!this.#closed.signal.aborted) hold({ signal: this.#closed.signal })
      })
    this.#displace = message => {
      this.#asleep = undefined
      if (this.leads || this.#closed.signal.aborted) return
      hold({ steal: true })
      setTimeout(() => this.#hear(message))
    }
    hold({ signal: this.#closed.signal })
  }

  async #leadByLease(work) {
    let stop
    while (!this.#closed.signal.aborted) {
      const isMine = await this.#renew().catch(() => false)
      if (isMine && !stop) {
        stop = new AbortController()
        this.#work(work, stop.signal).catch(() => {})
      } else if (!isMine && stop) {
        stop.abort()
        stop = undefined
      }
      await new Promise(resolve => setTimeout(resolve, lease / 3))
    }
    stop?.abort()
  }

  #renew() {
    return this.#database.write(["meta"], async transaction => {
      const held = await transaction.get("meta", "leader")
      if (held && held.tab !== this.id && held.until > Date.now()) return false
      await transaction.setMeta("leader", { tab: this.id, until: Date.now() + lease })
      return true
    })
  }

  async #work(work, signal) {
    if (this.#closed.signal.aborted) return
    const held = new AbortController()
    signal.addEventListener("abort", () => held.abort())
    this.#held?.abort()
    this.#held = held
    this.leads = true
    try { await work(held.signal) } finally {
      if (this.#held === held) this.leads = false
    }
  }

  /** Runs one thing at a time in all tabs: sending, and changing who is logged in. */
  async exclusive(body) {
    if (navigator.locks) {
      const name = "hotel-bookmarks-sending"
      let hasBegun = false
      const begin = () => {
        hasBegun = true
        return body()
      }
      try {
        return await navigator.locks.request(name, { signal: AbortSignal.timeout(turn) }, begin)
      } catch (error) {
        if (hasBegun || error.name !== "TimeoutError") throw error
        return navigator.locks.request(name, { steal: true }, begin)
      }
    }
    const next = this.#serial.then(body)
    this.#serial = next.catch(() => {})
    return next
  }

  /** Leaves: another tab leads. */
  close() {
    this.#closed.abort()
    this.#held?.abort()
    this.#channel?.close()
  }
}
