import { Copy } from "./copy.js"
import { listen } from "./feed.js"
import { OfflineError } from "./error.js"
import { reach } from "./server.js"

/** The pauses after failed rounds, in milliseconds: one after the first failure, and so on; the last one repeats. */
const pauses = [500, 1000, 2000, 4000, 8000, 15_000, 30_000]
/** After this time without a byte of the stream, changes do not come by themselves, in milliseconds. */
const silence = 45_000

/**
 * Synchronises the local copy with the server, in the leading tab: it sends and fetches in rounds, one at a time, and
 * reads the stream of changes, which says when the next round is due. It posts its state to the other tabs.
 */
export class Synchroniser {
  #database; #tabs; #session; #outbox; #copy; #told; #failed
  #wanted = new Set(); #asks = []; #wake = () => {}; #timer; #feed = null; #fails = 0; #heardOf = null; #silent
  /** @type {import("../offline.d.ts").SyncState} */
  state = {
    mode: "continuous", phase: "syncing", done: 0, total: 0, waiting: 0, stuck: 0, live: false, quiet: false, intercepted: false, lastSync: null,
    error: null
  }

  /**
   * @param {object} parts `told(places, isOutbox)`: the copy, the outbox or the state has changed. `failed(error)`: an
   *   error in the background.
   */
  constructor(parts) {
    ({
      database: this.#database, tabs: this.#tabs, session: this.#session, outbox: this.#outbox, copy: this.#copy,
      told: this.#told, failed: this.#failed
    } = parts)
  }

  /** Reads the mode and the time of the last round from the database. */
  async load() {
    const [mode, lastSync] = await Promise.all([this.#database.meta("mode"), this.#database.meta("lastSync")])
    // Before the first round nothing is known of the server, except that no round is wanted.
    Object.assign(this.state, { mode: mode ?? "continuous", lastSync: lastSync ?? null, ...(mode === "manual" && { phase: "idle" }) })
  }

  /** Changes the state and reports it to every tab. */
  set(change) {
    const next = { ...this.state, ...change }
    if (Object.keys(change).every(key => this.state[key] === next[key])) return
    this.state = next
    this.#tabs.post({ kind: "state", state: next })
    this.#told([])
  }

  /** Takes over another tab's state, except the counts of the outbox, which each tab makes itself. */
  take(state) {
    const { waiting, stuck, mode } = this.state
    this.state = { ...state, waiting, stuck }
    if (mode !== state.mode && this.#tabs.leads) this.modeChanged()
    this.#told([])
  }

  /** Counts the entries of the outbox. */
  count(entries) {
    const of = (...states) => entries.filter(entry => states.includes(entry.state)).length
    this.state = { ...this.state, waiting: of("pending", "transit"), stuck: of("rejected", "parked") }
  }

  /** @param {"manual"|"continuous"} mode */
  async setMode(mode) {
    await this.#database.setMeta("mode", mode)
    this.set({ mode })
    this.modeChanged()
  }

  /** Stops the stream in the mode `manual`, or starts a round in the mode `continuous`. */
  modeChanged() {
    if (this.state.mode !== "manual") return this.retry()
    this.#feed?.abort()
    this.#rest()
  }

  /** Synchronises until the signal is aborted. A failed round does not end it. */
  async lead(signal) {
    signal.addEventListener("abort", () => this.#poke())
    const online = () => this.retry()
    const offline = () => {
      this.set({ phase: "offline", live: false })
      this.#feed?.abort()
    }
    addEventListener("online", online, { signal })
    addEventListener("offline", offline, { signal })
    if (navigator.onLine === false) this.set({ phase: "offline" })
    try {
      await this.#outbox.recover()
      // Without a session there is nothing to fetch yet: the start of one asks for everything.
      const isKnown = this.#session.state.state === "none" || await this.#database.meta("feed")
      if (!isKnown) this.want("everything")
      this.want("send")
      while (!signal.aborted) await this.#turn(signal)
    } catch (error) {
      this.#failed(error)
    } finally {
      clearTimeout(this.#timer)
      this.#feed?.abort()
      clearTimeout(this.#silent)
      this.#silent = undefined
    }
  }

  /** Adds to the next round: `send`, `everything` or a part of the copy. */
  want(what) {
    this.#wanted.add(what)
    this.#poke()
  }

  /** Starts a complete round now, in any mode. @returns {Promise<void>} @throws {OfflineError} Why it failed. */
  now() {
    return new Promise((resolve, reject) => {
      this.#asks.push({ resolve, reject })
      this.#fails = 0
      this.want("everything")
      this.want("send")
    })
  }

  /** Ends the current pause and starts a round: the network is back, or the mode is `continuous` again. */
  retry() {
    this.#fails = 0
    this.#feed?.abort()
    this.want("send")
  }

  /** Fetches everything and opens the stream again, because the session has changed. */
  restart() {
    this.#heardOf = null
    this.#database.meta("lastSync").then(lastSync => {
      const { mode, phase } = this.state
      // A round is about to begin.
      this.set({ lastSync: lastSync ?? null, phase: mode === "continuous" && phase === "idle" ? "syncing" : phase })
    }, this.#failed)
    this.#feed?.abort()
    this.want("everything")
    this.want("send")
  }

  #poke() { this.#wake() }

  async #turn(signal) {
    const isDue = () => this.#asks.length || (this.state.mode === "continuous" && this.#wanted.size)
    if (!isDue()) {
      await new Promise(resolve => { this.#wake = resolve })
      return
    }
    const asks = this.#asks.splice(0)
    const wanted = new Set(this.#wanted)
    this.#wanted.clear()
    // The position in the stream that this round covers. Later events belong to the next round.
    const heardOf = this.#heardOf
    try {
      if (this.state.phase === "offline") await reach()
      await this.#tabs.exclusive(async () => {
        if (asks.length) await this.#outbox.recover()
        await this.#run(wanted, heardOf, signal)
      })
      this.#fails = 0
      for (const ask of asks) ask.resolve()
    } catch (error) {
      for (const what of wanted) this.#wanted.add(what)
      for (const ask of asks) ask.reject(error)
      if (!(error instanceof OfflineError)) this.#failed(error)
      if (error.code?.startsWith("storage_")) this.#failed(error)
      if (error.isSessionEnd) await this.#session.end()
      if (error.isOffline) this.#unreached(error)
      else this.set({ phase: "error", error: error.message, code: error.code })
      await this.#pause(error.retryAfter, signal)
    }
    if (this.state.mode === "continuous" && this.state.phase === "idle") this.#follow(signal)
  }

  /** One round: checks the session, sends the outbox, fetches the parts. */
  async #run(wanted, heardOf, signal) {
    if (!(await this.#session.ensure())) {
      const ended = this.#session.state.state === "ended"
      this.#wanted.clear()
      this.#rest()
      this.set({ phase: ended ? "error" : "idle", error: ended ? "Your session has ended: log in again." : null })
      return
    }
    const parts = wanted.has("everything") ? ["own", "lists"] : [...wanted].filter(what => what !== "send")
    let [done, total] = [0, parts.length]
    this.set({ phase: "syncing", error: null, done, total })
    const step = () => {
      this.#told([], true)
      this.set({ done: done += 0.5, total: parts.length + Math.ceil(done) })
    }
    const next = await this.#outbox.send(step)
    total = parts.length + done
    while (parts.length && !signal.aborted) {
      const part = parts.shift()
      const more = (await this.#copy.pull(part)).filter(it => !parts.includes(it))
      parts.push(...more)
      total += more.length
      this.set({ done: done += 1, total })
      this.#told([part.endsWith("/list") ? "lists" : part.split("/")[0]], true)
    }
    const lastSync = new Date().toISOString()
    await this.#database.write(["meta"], async transaction => {
      await transaction.setMeta("lastSync", lastSync)
      if (heardOf) await transaction.setMeta("feed", heardOf)
    })
    this.set({ phase: "idle", done: 0, total: 0, lastSync, error: null, intercepted: false })
    clearTimeout(this.#timer)
    if (next) this.#timer = setTimeout(() => this.want("send"), Math.max(0, next - Date.now()))
  }

  #unreached({ code }) { this.set({ phase: "offline", live: false, intercepted: code === "intercepted" }) }

  async #pause(least = 0, signal) {
    const length = Math.max(least, pauses[Math.min(this.#fails, pauses.length - 1)])
    this.#fails += 1
    if (this.state.mode === "manual") return
    await new Promise(resolve => {
      const timer = setTimeout(resolve, length)
      this.#wake = () => {
        // Only `retry`, `now` or the end of the lead (`signal`) ends a pause early.
        if (this.#fails && !signal.aborted) return
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** Reads the stream of changes. When it ends, the next round starts, which opens the stream again. */
  async #follow(signal) {
    if (this.#feed || signal.aborted || this.#session.state.state !== "active") return
    const feed = this.#feed = new AbortController()
    signal.addEventListener("abort", () => feed.abort())
    let pause = 0
    if (!this.#silent) this.#listen()
    try {
      const last = this.#heardOf ?? await this.#database.meta("feed")
      await listen({
        last, signal: feed.signal,
        opened: () => {
          // A new stream has no events about earlier changes.
          if (!last) this.want("everything")
        },
        beat: () => {
          this.set({ live: true, quiet: false })
          this.#listen()
        },
        heard: event => this.#hear(event)
      })
      pause = 1000
    } catch (error) {
      pause = error.retryAfter ?? 1000
      if (feed.signal.aborted) pause = 0
      else if (error.isSessionEnd) await this.#session.end()
      else if (error.status === 400 || error.status === 410) await this.#forgetPlace()
      else if (error.isOffline) this.#unreached(error)
      else if (!(error instanceof OfflineError)) this.#failed(error)
    } finally {
      this.#feed = null
      this.set({ live: false })
      if (!signal.aborted) setTimeout(() => this.want("send"), pause)
    }
  }

  /**
   * Waits for the next byte of the stream. A proxy may keep what the server sends: then every tab is told, everything is
   * fetched, and the stream is opened again, each time that the wait is over.
   */
  #listen() {
    clearTimeout(this.#silent)
    this.#silent = setTimeout(() => {
      this.set({ live: false, quiet: true })
      this.want("everything")
      this.#listen()
      this.#feed?.abort()
    }, silence)
  }

  /** Stops to wait, because no stream is wanted. */
  #rest() {
    clearTimeout(this.#silent)
    this.#silent = undefined
    this.set({ quiet: false })
  }

  async #forgetPlace() {
    this.#heardOf = null
    await this.#database.setMeta("feed", undefined)
    this.want("everything")
  }

  #hear({ name, id, data }) {
    this.#heardOf = id
    if (!data) return
    const list = data.list
    if (name === "draft") {
      const of = data.document?.list ?? data.id.split(":")[1]
      for (const what of ["bookmarks", "notes", "drafts"]) this.want(`${of}/${what}`)
    } else if (name === "left") {
      this.want("lists")
    } else if (name === "joined" || (name === "rewound" && list)) {
      for (const part of Copy.parts(list)) this.want(part)
    } else if (!list) {
      this.want("own")
    } else if (data.id === list) {
      this.want(`${list}/list`)
    } else {
      this.want(data.id.startsWith(list + ":") ? `${list}/notes` : `${list}/bookmarks`)
    }
  }
}
