import { OfflineError } from "./error.js"
import { keptName, randomID } from "./server.js"

/** How long the leading tab's lease is valid without Web Locks, in milliseconds; it is renewed after a third of it. */
const lease = 6000
/** How long to wait before taking over the lock of a tab that sends, in milliseconds: longer than one request takes. */
const turn = 45_000
/** How long to wait for the leading tab's reply `awake`, in milliseconds. Phones suspend tabs in the background. */
const asleepAfter = 3000
/** How long to wait before asking for the lead again, in milliseconds. Timers of a page that is left do not fire. */
const pause = 200

/**
 * The tabs of this browser that use the same server: messages between them, and the choice of the leading tab, which alone talks to the server.
 *
 * The leading tab holds a Web Lock. When that tab closes, the browser gives the lock to another one. Without Web Locks
 * (pages by plain HTTP), a lease in the database replaces the lock. Then two tabs may lead for a moment: both send the
 * same keys, so the server does nothing twice.
 */
export class Tabs {
  #channel; #database; #hear; #asleep; #displace; #held
  #serial = Promise.resolve()
  #asked = new Map()
  #closed = new AbortController()
  /** This tab's id. */
  id = randomID()
  /** Whether this tab leads. */
  leads = false

  /** @param {(message: object) => void} hear It is called with each message of other tabs. */
  constructor(database, hear) {
    this.#database = database
    this.#hear = hear
    if (typeof BroadcastChannel === "undefined") return
    this.#channel = new BroadcastChannel(keptName())
    this.#channel.onmessage = event => this.#take(event.data)
  }

  /** Sends a message to all other tabs. */
  post(message) { if (!this.#closed.signal.aborted) this.#channel?.postMessage(message) }

  /** Sends a message to the leading tab. If that tab is suspended, this tab takes the lead and handles the message. */
  tellLeader(message) {
    if (this.leads) return this.#hear(message)
    this.post({ ...message, wake: true })
    if (!navigator.locks || document.visibilityState !== "visible") return
    this.#asleep ??= setTimeout(() => this.#displace?.(message), asleepAfter)
  }

  /** Asks the leading tab, and waits for its answer. @throws {OfflineError} The failure that it answers. */
  askLeader(message) {
    return new Promise((resolve, reject) => {
      const ask = randomID()
      this.#asked.set(ask, { resolve, reject })
      this.tellLeader({ ...message, ask })
    })
  }

  /** Answers another tab's question, when `work` has ended. */
  async answer({ ask }, work) {
    const answer = { kind: "answer", ask }
    await work.catch(({ code, reason }) => Object.assign(answer, { code, reason }))
    this.post(answer)
    // This tab has asked itself if it took the lead.
    this.#take(answer)
  }

  #take(message) {
    if (message.kind === "answer") {
      const { code, reason, ask } = message, asked = this.#asked.get(ask)
      this.#asked.delete(ask)
      if (code) asked?.reject(new OfflineError(code, reason))
      else asked?.resolve()
      return
    }
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
   * Runs `work` each time that this tab becomes the leading tab.
   * @param {(signal: AbortSignal) => Promise} work It ends soon after the signal is aborted.
   */
  lead(work) {
    if (navigator.locks) this.#leadByLock(work)
    else this.#leadByLease(work)
  }

  #leadByLock(work) {
    const { signal } = this.#closed
    const hold = (options = { signal }) => navigator.locks.request(`${keptName()}-leader`, options, () => this.#work(work, signal))
      // Another tab has displaced this one, or this one is closed. A page that is left is refused at once, again and again.
      .catch(() => {
        this.#held?.abort()
        if (!signal.aborted) setTimeout(hold, pause)
      })
    this.#displace = message => {
      this.#asleep = undefined
      if (this.leads || signal.aborted) return
      hold({ steal: true })
      setTimeout(() => this.#hear(message))
    }
    hold()
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
      const held = await transaction.get("meta", "leader"), left = held?.until - Date.now()
      // A longer one is from before the device's clock was put back.
      if (left > 0 && left <= lease && held.tab !== this.id) return false
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

  /** Runs one `body` at a time in all tabs: rounds and changes of the session. Without Web Locks, in this tab only. */
  async exclusive(body) {
    if (navigator.locks) {
      const name = `${keptName()}-sending`
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

  /** Stops: this tab no longer leads, and another one may. */
  close() {
    this.#closed.abort()
    this.#held?.abort()
    this.#channel?.close()
  }
}
