import { Copy } from "./copy.js"
import { Outbox } from "./outbox.js"
import { Session } from "./session.js"
import { Synchroniser } from "./synchroniser.js"
import { Tabs } from "./tabs.js"
import { View } from "./view.js"
import { call } from "./server.js"

/**
 * The parts behind a `Client`, and the messages between them: the page and the other tabs are told what each of them
 * changes.
 */
export class Parts {
  #database; #copy; #tell
  tabs; view; outbox; session; synchroniser

  /** @param {(event: string, detail: any) => void} tell It is called with each event of the client. */
  constructor(database, { backoff }, tell) {
    this.#database = database
    this.#tell = tell
    this.tabs = new Tabs(database, message => this.#hear(message).catch(error => this.fail(error)))
    this.view = new View(database)
    this.#copy = new Copy(database)
    this.outbox = new Outbox({
      database, backoff, pull: part => this.#copy.pull(part),
      told: entry => {
        this.tabs.post({ kind: "rejected", entry })
        this.#tell("rejected", entry)
        // Reads no longer include its change.
        this.changed([entry.list ?? "own", "lists"])
      }
    })
    const parts = { database, tabs: this.tabs, outbox: this.outbox, view: this.view }
    this.session = new Session({ ...parts, changed: () => this.#hear({ kind: "session", isOwn: true }) })
    this.synchroniser = new Synchroniser({
      ...parts, session: this.session, copy: this.#copy, failed: error => this.fail(error),
      told: (places, isOutbox) => this.changed(places, isOutbox)
    })
  }

  /** Reads what is stored, and synchronises when this tab leads. */
  async begin() {
    await this.session.load()
    await this.view.usePlaces()
    await this.synchroniser.load()
    this.synchroniser.count(await this.outbox.entries())
    this.tabs.lead(signal => this.synchroniser.lead(signal))
    this.tabs.tellLeader({ kind: "hello" })
  }

  close() {
    this.tabs.close()
    this.#database.close()
  }

  /** The state of syncing. */
  get sync() { return { ...this.synchroniser.state } }

  /** Sends a request outside of a round. If the answer is that the session has ended, the page is told. */
  async ask(...request) {
    return call(...request).catch(error => {
      if (error.isSessionEnd) this.session.check().catch(() => {})
      throw error
    })
  }

  /** Fetches parts of the copy. */
  async pull(...parts) {
    for (const part of parts) await this.#copy.pull(part)
    this.changed([...new Set(parts.map(part => part.split("/")[0])), "lists"])
  }

  /** Tells all tabs that the results of reads may have changed. */
  changed(places, isOutbox) {
    if (places.length || isOutbox) this.tabs.post({ kind: "changed", places, isOutbox })
    this.#show(places, isOutbox).catch(error => this.fail(error))
  }

  /** Tells the page of a failure in the background. */
  fail(error) { this.#tell("failure", error) }

  async #show(places, isOutbox) {
    // A page that knows a list by its local id listens for that id.
    places = places.flatMap(it => [it, this.view.aliases[it] ?? it])
    if (isOutbox) {
      const entries = await this.outbox.entries()
      this.synchroniser.count(entries)
      this.#tell("outbox", entries)
    }
    if (places.length) this.#tell("change", { places })
    this.#tell("sync", this.sync)
  }

  async #hear(message) {
    const { kind } = message
    if (kind === "changed") await this.#show(message.places, message.isOutbox)
    else if (kind === "rejected") this.#tell("rejected", message.entry)
    else if (kind === "state") this.synchroniser.take(message.state)
    else if (kind === "hello" && this.tabs.leads) this.tabs.post({ kind: "state", state: this.sync })
    else if (kind === "rest") this.session.rest()
    else if (kind === "send" && this.tabs.leads) this.synchroniser.want("send")
    else if (kind === "sync" && this.tabs.leads) await this.tabs.answer(message, this.synchroniser.now())
    else if (kind === "session") {
      if (!message.isOwn) await this.session.load()
      this.#tell("session", this.session.state)
      if (this.tabs.leads) this.synchroniser.restart()
      await this.#show(["own", "lists"], true)
    }
  }
}
