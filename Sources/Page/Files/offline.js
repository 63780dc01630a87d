/**
 * Hotel Bookmarks, offline first, for web pages: one import, no other script, no token in any script.
 *
 *     import { open } from "/offline.js"
 *     const client = await open()
 *     client.addEventListener("change", async () => show(await client.bookmarks()))
 *     const { hotels } = await client.search({ description: "pool", location: "Paris" })
 *     await client.bookmark(hotels[0])
 *
 * Reads answer from this browser's database (IndexedDB), which is brought up to date in the background. Writes go into
 * an outbox first and are seen at once; they are sent when the server can be reached. All tabs share both.
 * Every function that fails throws an {@link OfflineError}.
 */
import { Copy } from "./offline/copy.js"
import { Database } from "./offline/database.js"
import { Outbox } from "./offline/outbox.js"
import { Session } from "./offline/session.js"
import { Synchroniser } from "./offline/synchroniser.js"
import { Tabs } from "./offline/tabs.js"
import { View } from "./offline/view.js"
import { call, randomID, segment } from "./offline/server.js"
import { OfflineError } from "./offline/error.js"
import { registerWorker } from "./offline/shell.js"

export { OfflineError }

/**
 * @typedef {object} Session Who uses this browser.
 * @property {"none"|"active"|"ended"} state `none`: nobody yet (offline at the first visit, or logged out); `ended`: the
 *   server knows the session no longer, so log in again: what is stored and queued here is kept for it.
 * @property {string} [id]
 * @property {"guest"|"user"} [kind]
 * @property {string} [username] A user's name.
 *
 * @typedef {object} Hotel `id` and whatever is known: `name`, `address`, `city`, `state`, `country`, `description`, …
 *
 * @typedef {object} Bookmark
 * @property {string} id The hotel's.
 * @property {string} [rev] Absent while the server has not confirmed it.
 * @property {string} bookmarkedAt RFC 3339.
 * @property {Hotel} hotel
 * @property {string} [addedBy] On a list: the user's name.
 * @property {boolean} [draft] One's own draft on a list.
 * @property {boolean} [pending] A change of it waits in the outbox.
 *
 * @typedef {object} List
 * @property {string} id A list made offline has an id that starts with `new-` until it is delivered; both ids are
 *   understood by every function here for as long as this page is open.
 * @property {string} title
 * @property {string} markdown
 * @property {string} owner
 * @property {"owner"|"editor"|"reader"} role One's own.
 * @property {{username: string, role: string, joinedAt: string}[]} members The owner first.
 * @property {string} createdAt
 * @property {string} updatedAt
 * @property {boolean} [pending]
 *
 * @typedef {object} Note
 * @property {string} title
 * @property {string} markdown
 * @property {string} [rev]
 * @property {string} createdAt
 * @property {string} updatedAt
 * @property {boolean} [draft]
 * @property {boolean} [pending]
 *
 * @typedef {object} Draft
 * @property {"bookmark"|"note"} kind
 * @property {string} [id] The hotel's, of a bookmark.
 * @property {string} [title] Of a note.
 * @property {boolean} [deleted] It removes the bookmark or note.
 * @property {string} updatedAt
 *
 * @typedef {object} Entry One change in the outbox.
 * @property {number} id
 * @property {"pending"|"transit"|"delivered"|"rejected"|"parked"} state `pending`: waits for its turn or for the
 *   network. `transit`: sent, not answered yet. `delivered`: on the server's disk. `rejected`: the server refused it,
 *   and it is no longer part of what is shown. `parked`: failed three more times for a passing cause; it is still
 *   shown, and waits for {@link Client#sendAgain}, {@link Client#change} or {@link Client#drop}.
 * @property {string} action What it does: a name of one of the writing functions below, such as `bookmark`.
 * @property {string} [list] Which list; absent for one's own bookmarks.
 * @property {string} [subject] The hotel's id, the note's title or the member's name.
 * @property {string} [label] What a person would call it: the hotel's name, the note's or list's title.
 * @property {object} [body] What is sent, and what {@link Client#change} replaces.
 * @property {number} attempts How often it was sent.
 * @property {string} createdAt
 * @property {string} [nextAttemptAt] When it is tried again, while it is pending.
 * @property {number} [status] The server's last answer; 0 where there was none.
 * @property {string} [error] The server's word, such as `forbidden`.
 * @property {string} [reason] Why it was rejected, parked or put off, for people.
 * @property {object} [theirs] Of a rejected note: the server's present one (`markdown`, `rev`).
 * @property {boolean} [undoable] {@link Client#undo} takes it back.
 *
 * @typedef {object} SyncState After TouchWiki's button.
 * @property {"continuous"|"manual"} mode `manual`: nothing is sent or fetched but by {@link Client#syncNow}.
 * @property {"idle"|"syncing"|"offline"|"error"} phase
 * @property {number} done Steps of this round that are done.
 * @property {number} total Steps that are known so far.
 * @property {number} waiting Entries of the outbox that are pending or in transit.
 * @property {number} stuck Entries that are rejected or parked.
 * @property {boolean} live The stream of changes is open, in this tab or another.
 * @property {string|null} lastSync RFC 3339.
 * @property {string|null} error Why the phase is `error`.
 *
 * @typedef {object} SearchAnswer
 * @property {"upstream"|"cache"|"stale"|"mirror"|"device"} source `device`: this browser's own copy, for the server
 *   could not be reached or could not search.
 * @property {(Hotel & {bookmarked: boolean})[]} hotels
 * @property {number} [total]
 * @property {number} [next] The next page's `offset`; absent at the end.
 * @property {string} [reason] With `device`: why.
 */

/**
 * Opens this browser's copy and begins to sync. Without a session it starts a guest, as soon as the server can be
 * reached. Call it once a page; many tabs may.
 * @param {object} [options]
 * @param {boolean} [options.worker=true] Whether to install the service worker that keeps the page for offline use.
 * @param {number[]} [options.backoff=[1000, 4000, 16000]] Milliseconds before each further attempt of a failed write.
 * @returns {Promise<Client>}
 * @throws {OfflineError} `storage_unavailable`: no IndexedDB here, as in some private windows. `storage_blocked`: another
 *   tab with an older version of this page is open; close it. `storage_newer`: a newer version of this page was here;
 *   reload. `storage_full`.
 */
export async function open(options = {}) {
  const client = new Client(await Database.open(), options)
  await client.begin()
  return client
}

/**
 * A page's way to everything here. Don't make one; {@link open} does.
 *
 * Events (all `CustomEvent`, told in every tab):
 * - `change`, detail `{places}`: what reads answer may have changed; `places` holds `"own"`, ids of lists, `"lists"`
 *   (which lists there are, their titles and members).
 * - `outbox`, detail {@link Entry}[]: all entries, oldest first.
 * - `rejected`, detail {@link Entry}: one was refused just now; its change is no longer shown.
 * - `sync`, detail {@link SyncState}.
 * - `session`, detail {@link Session}: who uses this browser has changed, also by another tab. After `none` by logging
 *   out, nothing of the person is left.
 * - `update`, detail `{version}`: a new version of the page is ready; a reload shows it.
 * - `failure`, detail {@link OfflineError}: something failed in the background, such as `storage_full`.
 */
export class Client extends EventTarget {
  #database; #tabs; #view; #outbox; #session; #synchroniser; #copy; #options

  /** @private */
  constructor(database, options) {
    super()
    this.#database = database
    this.#options = options
    this.#tabs = new Tabs(database, message => this.#hear(message).catch(error => this.#fail(error)))
    this.#view = new View(database)
    this.#copy = new Copy(database)
    this.#outbox = new Outbox({
      database, backoff: options.backoff, pull: part => this.#copy.pull(part),
      told: entry => {
        this.#tabs.post({ kind: "rejected", entry })
        this.#tell("rejected", entry)
      }
    })
    const parts = { database, tabs: this.#tabs, outbox: this.#outbox, view: this.#view }
    this.#session = new Session({ ...parts, changed: () => this.#hear({ kind: "session", isOwn: true }) })
    this.#synchroniser = new Synchroniser({
      ...parts, session: this.#session, copy: this.#copy, failed: error => this.#fail(error),
      told: (places, isOutbox) => this.#changed(places, isOutbox)
    })
  }

  /** @private */
  async begin() {
    await this.#session.load()
    await this.#synchroniser.load()
    this.#synchroniser.count(await this.#outbox.entries())
    this.#tabs.lead(signal => this.#synchroniser.lead(signal))
    this.#tabs.post({ kind: "hello" })
    if (this.#options.worker ?? true) {
      registerWorker(version => this.#tell("update", { version })).catch(error => this.#fail(error))
    }
  }

  // Who it is

  /** @returns {Session} */
  get session() { return this.#session.state }

  /**
   * Starts a guest where there is no session. {@link open} and every write do so by themselves.
   * @returns {Promise<Session>} @throws {OfflineError} `offline`, `too_many_requests`.
   */
  start() { return this.#session.start() }

  /**
   * Makes an account; what the guest has bookmarked becomes the account's.
   * @param {{username: string, password: string}} credentials
   * @returns {Promise<Session>} @throws {OfflineError} `offline`, `signed_in`, and the server's, such as `conflict`.
   */
  signUp(credentials) { return this.#session.enter("/v1/users", credentials) }

  /**
   * Logs in; what the guest of this browser has bookmarked joins the account's, which {@link Client#undoAdoption} undoes.
   * @param {{username: string, password: string, discard?: boolean}} credentials After another user's session has ended,
   *   `discard` gives up what that one had not sent.
   * @returns {Promise<Session>} @throws {OfflineError} `offline`, `signed_in`, `outbox_not_empty`, and the server's.
   */
  logIn(credentials) { return this.#session.enter("/v1/sessions", credentials) }

  /**
   * Logs out: nothing of the person stays in this browser, in any tab. Without a network the server is told later.
   * @param {{discard?: boolean}} [options] `discard` gives up changes that the server does not have.
   * @returns {Promise<void>} @throws {OfflineError} `outbox_not_empty`
   */
  logOut({ discard } = {}) { return this.#session.leave({ discard }) }

  /**
   * Erases the account with all that it has, here and at the server.
   * @param {{lists?: "delete"|"handOn"}} [options] What becomes of one's own lists: they end, or go to another member.
   * @returns {Promise<void>} @throws {OfflineError}
   */
  erase({ lists = "delete" } = {}) { return this.#session.leave({ erase: lists }) }

  /** The account: `{id, kind, username, usage, quota, expiresAt}`. @throws {OfflineError} */
  async me() { return (await call("GET", "/v1/me")).body }

  /** What was taken over from guests: `{id, bookmarks, time, undoableUntil}[]`. @throws {OfflineError} */
  async adoptions() { return (await call("GET", "/v1/me/adoptions")).body.adoptions }

  /** Takes back what came from a guest, within 24 hours. @param {string} id @throws {OfflineError} */
  async undoAdoption(id) {
    await call("DELETE", `/v1/me/adoptions/${segment(id)}`)
    await this.#pull("own")
  }

  // Hotels

  /**
   * Searches hotels, at the server or in this browser's copy.
   * @param {{description?: string, location?: string, limit?: number, offset?: number, sort?: string, near?: string}} query
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<SearchAnswer>}
   * @throws {OfflineError} What the server refuses; the signal's reason when it is aborted.
   */
  async search(query = {}, { signal } = {}) {
    const wanted = Object.entries(query).filter(([, value]) => value !== undefined && value !== "")
    let answer
    try {
      answer = (await call("GET", `/v1/hotels?${new URLSearchParams(wanted)}`, { signal })).body
    } catch (error) {
      if (!(error instanceof OfflineError) || !(error.isOffline || error.status >= 500)) throw error
      answer = { source: "device", reason: error.reason, ...await this.#view.search(query) }
    }
    const { bookmarks, entries, isComplete } = await this.#view.place("own")
    const isChanged = id => isComplete || entries.some(entry => !entry.list && entry.subject === id)
    const hotels = answer.hotels.map(hotel => (
      { ...hotel, bookmarked: isChanged(hotel.id) ? bookmarks.has(hotel.id) : Boolean(hotel.bookmarked) }))
    return { ...answer, hotels }
  }

  /**
   * One hotel, from the server or this browser's copy.
   * @param {string} id @param {{signal?: AbortSignal}} [options] @returns {Promise<Hotel>}
   * @throws {OfflineError} `not_found`; `offline` where it is not in the copy.
   */
  async hotel(id, { signal } = {}) {
    try {
      return (await call("GET", `/v1/hotels/${segment(id)}`, { signal })).body
    } catch (error) {
      const kept = error.isOffline || error.status >= 500 ? await this.#view.hotel(id) : undefined
      if (kept) return kept
      throw error
    }
  }

  // Bookmarks. Each write returns its entry of the outbox as soon as it is stored here; see `settled`.

  /** One's own bookmarks, or a list's, newest first. @param {{list?: string}} [options] @returns {Promise<Bookmark[]>} */
  async bookmarks({ list } = {}) { return this.#view.bookmarks(await this.#view.resolve(list)) }

  /**
   * Bookmarks a hotel that search has shown. @param {Hotel} hotel
   * @param {{list?: string, draft?: boolean, facts?: boolean}} [options] `draft`: on a list, seen by oneself alone until
   *   it is published. `facts`: send what `hotel` says too, for a hotel that the server does not know.
   * @returns {Promise<Entry>}
   */
  bookmark(hotel, { list, draft, facts } = {}) {
    const { bookmarked, ...said } = hotel
    const body = facts ? said : undefined
    return this.#write({ action: "bookmark", subject: hotel.id, label: hotel.name ?? hotel.id, hotel: said, list, draft, body })
  }

  /** Removes a bookmark. @param {string} id The hotel's. @param {{list?: string, draft?: boolean}} [options] @returns {Promise<Entry>} */
  async unbookmark(id, { list, draft } = {}) {
    const former = (await this.#view.place(await this.#view.resolve(list) ?? "own")).bookmarks.get(id)
    const body = draft ? undefined : { remove: [id] }
    const label = former?.hotel.name ?? id
    return this.#write({ action: "unbookmark", subject: id, label, former, undoable: !draft && Boolean(former), list, draft, body })
  }

  /**
   * What a document said before, newest first, a page at a time: `{id, revisions, next}`, as the book's *History* tells.
   * @param {string} id A hotel's id, `bookmarkedhotels` for the whole list of bookmarks, or `LIST:TITLE` for a note.
   * @param {{list?: string, after?: string, limit?: number}} [options]
   * @throws {OfflineError} `offline`, `not_found`.
   */
  async history(id, { list, after, limit = 50 } = {}) {
    const query = new URLSearchParams({ limit, ...(after && { after }) })
    return (await call("GET", `${await this.#document(id, list)}/revisions?${query}`)).body
  }

  /** The document as a revision has it. @param {string} id @param {string} rev @param {{list?: string}} [options] */
  async revision(id, rev, { list } = {}) {
    return (await call("GET", `${await this.#document(id, list)}/revisions/${segment(rev)}`)).body
  }

  /** Brings an earlier revision back. @returns {Promise<Entry>} */
  restore(id, rev, { list, label = id } = {}) {
    return this.#write({ action: "restore", subject: id, label, list, body: { rev } })
  }

  // Lists: for users; a guest's writes are refused with `account_needed`.

  /** @returns {Promise<List[]>} The last changed first. */
  lists() { return this.#view.lists() }

  /** @param {string} id @returns {Promise<List>} @throws {OfflineError} `not_stored` */
  async list(id) { return this.#view.list(await this.#view.resolve(id)) }

  /** Makes a list; its id until it is delivered is the entry's `list`. @param {{title: string, markdown?: string}} body @returns {Promise<Entry>} */
  makeList({ title, markdown = "" }) {
    return this.#write({ action: "makeList", list: `new-${randomID()}`, label: title, body: { title, markdown } })
  }

  /** @param {string} list @param {{title?: string, markdown?: string, owner?: string}} body @returns {Promise<Entry>} */
  changeList(list, body) { return this.#write({ action: "changeList", list, label: body.title, body }) }

  /** Ends a list, for everybody. @param {string} list @returns {Promise<Entry>} */
  endList(list) { return this.#write({ action: "endList", list }) }

  /** Leaves a list that another owns. @param {string} list @returns {Promise<Entry>} */
  leaveList(list) { return this.#write({ action: "leaveList", list, subject: this.session.username }) }

  /** @param {string} list @param {string} username @param {"editor"|"reader"} role @returns {Promise<Entry>} */
  setMember(list, username, role) {
    return this.#write({ action: "setMember", list, subject: username, label: username, body: { role } })
  }

  /** @param {string} list @param {string} username @returns {Promise<Entry>} */
  removeMember(list, username) {
    return this.#write({ action: "removeMember", list, subject: username, label: username })
  }

  /** Open invitations: `{id, role, createdAt, expiresAt}[]`. @throws {OfflineError} */
  async invitations(list) { return (await call("GET", `${await this.#root(list)}/invitations`)).body.invitations }

  /**
   * Makes an invitation. @param {string} list @param {{role: "editor"|"reader", expiresAt?: string}} wish
   * @returns {Promise<{id: string, token: string, role: string, expiresAt: string}>} The token is told this once.
   * @throws {OfflineError}
   */
  async invite(list, wish) { return (await call("POST", `${await this.#root(list)}/invitations`, { body: wish })).body }

  /** Withdraws an invitation. @throws {OfflineError} */
  async withdraw(list, invitation) { await call("DELETE", `${await this.#root(list)}/invitations/${segment(invitation)}`) }

  /** Joins a list. @param {string} token @returns {Promise<List>} @throws {OfflineError} `invitation_gone`, `account_needed`. */
  async acceptInvitation(token) {
    const list = (await call("POST", `/v1/invitations/${segment(token)}/accept`)).body
    await this.#pull(...Copy.parts(list.id))
    return list
  }

  /** @param {string} list @returns {Promise<Note[]>} By title. */
  async notes(list) { return this.#view.notes(await this.#view.resolve(list)) }

  /**
   * Writes a note. Where somebody else has changed it meanwhile it is rejected, with `theirs`.
   * @param {string} list @param {string} title @param {string} markdown @param {{draft?: boolean}} [options]
   * @returns {Promise<Entry>}
   */
  async putNote(list, title, markdown, { draft } = {}) {
    const known = (await this.notes(list)).find(note => note.title === title)
    const base = known?.draft ? undefined : known?.rev
    return this.#write({ action: "putNote", list, subject: title, label: title, draft, base, body: { markdown } })
  }

  /** @param {string} list @param {string} title @param {{draft?: boolean}} [options] @returns {Promise<Entry>} */
  deleteNote(list, title, { draft } = {}) {
    return this.#write({ action: "deleteNote", list, subject: title, label: title, draft })
  }

  /** One's own unpublished changes of a list. @param {string} list @returns {Promise<Draft[]>} */
  async drafts(list) { return this.#view.drafts(await this.#view.resolve(list)) }

  /** Makes a draft visible. @param {string} list @param {Draft} draft @returns {Promise<Entry>} */
  publish(list, draft) { return this.#writeDraft("publish", list, draft) }

  /** Throws a draft away. @param {string} list @param {Draft} draft @returns {Promise<Entry>} */
  discardDraft(list, draft) { return this.#writeDraft("discardDraft", list, draft) }

  // The outbox

  /** @returns {Promise<Entry[]>} Oldest first; of the delivered ones the last twenty. */
  outbox() { return this.#outbox.entries() }

  /** Sends a rejected or parked change again, as it is. @param {number} id @returns {Promise<Entry>} @throws {OfflineError} `not_stored`, `in_transit` */
  sendAgain(id) { return this.#queued(this.#outbox.sendAgain(id)) }

  /** Sends something else instead. @param {number} id @param {object} body @returns {Promise<Entry>} @throws {OfflineError} as before */
  change(id, body) { return this.#queued(this.#outbox.change(id, body)) }

  /** Gives a change up. @param {number} id @returns {Promise<Entry>} @throws {OfflineError} as before */
  drop(id) { return this.#queued(this.#outbox.drop(id)) }

  /** Takes the removal of a bookmark back, with its place and time. @param {number} id @returns {Promise<Entry>} @throws {OfflineError} `not_stored` */
  undo(id) { return this.#queued(this.#outbox.undo(id)) }

  /**
   * Waits for what becomes of a change. @param {number} id
   * @returns {Promise<Entry>} Once it is delivered. @throws {OfflineError} the reason, once it is rejected or parked.
   */
  settled(id) {
    return new Promise((resolve, reject) => {
      const look = entries => {
        const entry = entries.find(other => other.id === id)
        if (entry && ["pending", "transit"].includes(entry.state)) return
        this.removeEventListener("outbox", hear)
        if (entry?.state === "delivered") return resolve(entry)
        reject(new OfflineError(entry?.error ?? "not_stored", entry?.reason ?? "The change was dropped.", { status: entry?.status }))
      }
      const hear = event => look(event.detail)
      this.addEventListener("outbox", hear)
      this.outbox().then(look, reject)
    })
  }

  // Syncing

  /** @returns {SyncState} */
  get sync() { return { ...this.#synchroniser.state } }

  /** @param {"manual"|"continuous"} mode For all tabs, and kept. @returns {Promise<void>} */
  setMode(mode) { return this.#synchroniser.setMode(mode) }

  /** Sends and fetches all there is. @returns {Promise<void>} @throws {OfflineError} why it failed. */
  syncNow() {
    if (this.#tabs.leads) return this.#synchroniser.now()
    return new Promise((resolve, reject) => {
      const ask = randomID()
      this.#asked.set(ask, { resolve, reject })
      this.#tabs.tellLeader({ kind: "sync", ask })
    })
  }
  #asked = new Map()

  /** Lets go of everything, for a page that goes on without it. */
  close() {
    this.#tabs.close()
    this.#database.close()
  }

  // What the parts tell each other

  async #root(list) { return `/v1/lists/${segment(await this.#view.resolve(list))}` }

  async #document(id, list) { return `${list ? await this.#root(list) : "/v1"}/documents/${segment(id)}` }

  #write(change) {
    this.#session.wake()
    return this.#queued(this.#outbox.add(change))
  }

  #writeDraft(action, list, { kind, id, title }) {
    return this.#write({ action, list, kind, subject: id ?? title, label: title ?? id })
  }

  async #queued(writing) {
    const entry = await writing
    this.#changed(entry.list ? [entry.list, "lists"] : ["own"], true)
    this.#tabs.tellLeader({ kind: "send" })
    return entry
  }

  async #pull(...parts) {
    for (const part of parts) await this.#copy.pull(part)
    this.#changed([...new Set(parts.map(part => part.split("/")[0])), "lists"])
  }

  #changed(places, isOutbox) {
    if (places.length || isOutbox) this.#tabs.post({ kind: "changed", places, isOutbox })
    this.#show(places, isOutbox).catch(error => this.#fail(error))
  }

  async #show(places, isOutbox) {
    if (isOutbox) {
      const entries = await this.#outbox.entries()
      this.#synchroniser.count(entries)
      this.#tell("outbox", entries)
    }
    if (places.length) this.#tell("change", { places })
    this.#tell("sync", this.sync)
  }

  async #hear(message) {
    const { kind } = message
    if (kind === "changed") await this.#show(message.places, message.isOutbox)
    else if (kind === "rejected") this.#tell("rejected", message.entry)
    else if (kind === "state") this.#synchroniser.take(message.state)
    else if (kind === "hello" && this.#tabs.leads) this.#tabs.post({ kind: "state", state: this.sync })
    else if (kind === "rest") this.#session.rest()
    else if (kind === "send" && this.#tabs.leads) this.#synchroniser.want("send")
    else if (kind === "sync" && this.#tabs.leads) {
      const answer = { kind: "synced", ask: message.ask }
      await this.#synchroniser.now().catch(({ code, reason }) => Object.assign(answer, { code, reason }))
      this.#tabs.post(answer)
    } else if (kind === "synced" && this.#asked.has(message.ask)) {
      const { resolve, reject } = this.#asked.get(message.ask)
      this.#asked.delete(message.ask)
      if (message.code) reject(new OfflineError(message.code, message.reason))
      else resolve()
    } else if (kind === "session") {
      if (!message.isOwn) await this.#session.load()
      this.#tell("session", this.session)
      await this.#show(["own", "lists"], true)
      if (this.#tabs.leads) this.#synchroniser.restart()
    }
  }

  #tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })) }

  #fail(error) { this.#tell("failure", error) }
}
