import { Copy } from "./copy.js"
import { Outbox } from "./outbox.js"
import { Session } from "./session.js"
import { Synchroniser } from "./synchroniser.js"
import { Tabs } from "./tabs.js"
import { View } from "./view.js"
import { call, randomID, segment } from "./server.js"
import { OfflineError } from "./error.js"
import { hotel, search } from "./hotels.js"
import { registerWorker } from "./shell.js"

/**
 * The API for pages. {@link open} creates it; don't use the constructor.
 *
 * Events (all `CustomEvent`, dispatched in every tab):
 * - `change`, detail `{places}`: the results of reads may have changed. `places` has `"own"`, ids of lists, and
 *   `"lists"` (the set of lists, their titles and members).
 * - `outbox`, detail {@link Entry}[]: all entries, oldest first.
 * - `rejected`, detail {@link Entry}: the server refused this entry; reads no longer include its change.
 * - `sync`, detail {@link SyncState}.
 * - `session`, detail {@link Session}: the user of this browser has changed, in this tab or another. After a
 *   log-out, the state is `none` and the browser has no data of the user.
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
        // Reads no longer include its change.
        this.#changed([entry.list ?? "own", "lists"])
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
    if (this.#options.worker) {
      registerWorker(version => this.#tell("update", { version })).catch(error => this.#fail(error))
    }
  }

  // The session

  /** @returns {Session} */
  get session() { return this.#session.state }

  /** Starts a guest if there is no session, as every write does. @returns {Promise<Session>} @throws {OfflineError} */
  start() { return this.#session.start() }

  /** Asks the server whether the session is still valid. @returns {Promise<Session>} @throws {OfflineError} */
  check() { return this.#session.check() }

  /** Creates an account, as `logIn` in all else. @returns {Promise<Session>} @throws {OfflineError} Also `conflict`. */
  signUp(credentials) { return this.#session.enter("/v1/users", credentials) }

  /**
   * Logs in. The account takes over the bookmarks of this browser's guest; {@link Client#undoAdoption} undoes it.
   * @param {{username: string, password: string, discard?: boolean}} credentials `discard`: also for another user than
   *   the one whose session has ended here, whose unsent changes are then deleted.
   * @returns {Promise<Session>} @throws {OfflineError} `offline`, `signed_in`, `outbox_not_empty`, or the server's.
   */
  logIn(credentials) { return this.#session.enter("/v1/sessions", credentials) }

  /**
   * Logs out and removes all data of the user from this browser. Without a network, the server is informed later.
   * @param {{discard?: boolean, everywhere?: boolean}} [options] `discard`: delete changes that the server does not have.
   *   `everywhere`: end the user's sessions on all other devices, too; this needs the network.
   * @returns {Promise<void>} @throws {OfflineError} `outbox_not_empty`; with `everywhere` also `offline`
   */
  logOut({ discard, everywhere } = {}) { return this.#session.leave({ discard, everywhere }) }

  /**
   * Erases the account and its data, here and on the server. @returns {Promise<void>} @throws {OfflineError}
   * @param {{lists?: "delete"|"handOn"}} [options] The user's own lists are deleted, or another member becomes owner.
   */
  erase({ lists = "delete" } = {}) { return this.#session.leave({ erase: lists }) }

  /** Changes the password; every other session ends. @throws {OfflineError} */
  async changePassword({ currentPassword, password }) {
    await this.#ask("PUT", "/v1/me/password", { body: { currentPassword, password } })
  }

  /** The account: `{id, kind, username, usage, quota, expiresAt}`. @throws {OfflineError} */
  async me() { return (await this.#ask("GET", "/v1/me")).body }

  /** The adoptions of guests' bookmarks: `{id, bookmarks, time, undoableUntil, differing: {id, rev}[]}[]`. @throws {OfflineError} */
  async adoptions() { return (await this.#ask("GET", "/v1/me/adoptions")).body.adoptions }

  /** Undoes an adoption, within 24 hours. @param {string} id @throws {OfflineError} */
  async undoAdoption(id) {
    await this.#ask("DELETE", `/v1/me/adoptions/${segment(id)}`)
    await this.#pull("own")
  }

  // Hotels

  /**
   * Searches hotels on the server, or else in this browser's copy. @param {{signal?: AbortSignal}} [options]
   * @param {{description?: string, location?: string, limit?: number, offset?: number, sort?: string, near?: string}} query
   * @returns {Promise<SearchAnswer>} @throws {OfflineError} The server's, or the signal's reason.
   */
  search(query = {}, { signal } = {}) { return search(this.#view, query, signal) }

  /**
   * One hotel, from the server or this browser's copy. @param {string} id @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<Hotel>} @throws {OfflineError} `not_found`; `offline` if the copy does not have it.
   */
  hotel(id, { signal } = {}) {
    return hotel(this.#view, id, signal)
  }

  // Bookmarks. Each write returns its outbox entry as soon as the entry is stored here; see `settled`.

  /** Own bookmarks, or a list's, newest first. @param {{list?: string}} [options] @returns {Promise<Bookmark[]>} */
  bookmarks({ list } = {}) { return this.#view.bookmarks(list) }

  /**
   * Bookmarks a hotel of a search result. @param {Hotel} hotel @returns {Promise<Entry>}
   * @param {{list?: string, draft?: boolean, facts?: boolean}} [options] `draft`: on a list, only the author sees it
   *   until it is published. `facts`: send the members of `hotel`, too, for a hotel that the server does not know.
   */
  async bookmark(hotel, { list, draft, facts } = {}) {
    const { bookmarked, ...said } = hotel
    return this.#write({
      action: "bookmark", subject: hotel.id, label: hotel.name ?? hotel.id, hotel: said, list, draft,
      base: draft && await this.#seen(list, "bookmarks", hotel.id), body: facts ? said : undefined
    })
  }

  /** Removes a bookmark. @param {string} id @param {{list?: string, draft?: boolean}} [options] @returns {Promise<Entry>} */
  async unbookmark(id, { list, draft } = {}) {
    const former = (await this.#view.place(list)).bookmarks.get(id)
    return this.#write({
      action: "unbookmark", subject: id, label: former?.hotel.name ?? id, former, undoable: !draft && !!former, list, draft,
      base: await this.#seen(list, "bookmarks", id), body: draft ? undefined : { remove: [id] }
    })
  }

  /**
   * One page of a document's revisions, newest first: `{id, revisions, next}`; see the book's page *History*.
   * @param {string} id A hotel's id, `bookmarkedhotels` for the whole list of bookmarks, or `LIST:TITLE` for a note.
   * @param {{list?: string, after?: string, limit?: number}} [options]
   * @throws {OfflineError} `offline`, `not_found`.
   */
  async history(id, { list, after, limit = 50 } = {}) {
    const query = new URLSearchParams({ limit, ...(after && { after }) })
    return (await this.#ask("GET", `${await this.#document(id, list)}/revisions?${query}`)).body
  }

  /** The content of a revision. @param {string} id @param {string} rev @param {{list?: string}} [options] */
  async revision(id, rev, { list } = {}) {
    return (await this.#ask("GET", `${await this.#document(id, list)}/revisions/${segment(rev)}`)).body
  }

  /** Restores an earlier revision. @returns {Promise<Entry>} */
  restore(id, rev, { list, label = id } = {}) {
    return this.#write({ action: "restore", subject: id, label, list, body: { rev } })
  }

  // Lists, for users only: the server refuses a guest's writes with `account_needed`.

  /** @returns {Promise<List[]>} The last changed list first. */
  lists() { return this.#view.lists() }

  /** @param {string} id @returns {Promise<List>} @throws {OfflineError} `not_stored` */
  list(id) { return this.#view.list(id) }

  /** Makes a list: the entry's `list`. @param {{title: string, markdown?: string}} body @returns {Promise<Entry>} */
  makeList({ title, markdown = "" }) {
    return this.#write({ action: "makeList", list: `new-${randomID()}`, label: title, body: { title, markdown } })
  }

  /** @param {string} list @param {{title?: string, markdown?: string, owner?: string}} body @returns {Promise<Entry>} */
  changeList(list, body) { return this.#write({ action: "changeList", list, label: body.title, body }) }

  /** Deletes a list for all members. @param {string} list @returns {Promise<Entry>} */
  endList(list) { return this.#write({ action: "endList", list }) }

  /** Leaves a list that another user owns. @param {string} list @returns {Promise<Entry>} */
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
  async invitations(list) { return (await this.#ask("GET", `${await this.#root(list)}/invitations`)).body.invitations }

  /**
   * Makes an invitation. @param {string} list @param {{role: "editor"|"reader", expiresAt?: string}} wish
   * @returns {Promise<{id: string, token: string, role: string, expiresAt: string}>} Nothing returns the token again.
   * @throws {OfflineError}
   */
  async invite(list, wish) { return (await this.#ask("POST", `${await this.#root(list)}/invitations`, { body: wish })).body }

  /** Withdraws an invitation. @throws {OfflineError} */
  async withdraw(list, invitation) { await this.#ask("DELETE", `${await this.#root(list)}/invitations/${segment(invitation)}`) }

  /** Joins a list. @param {string} token Or an id of `receivedInvitations`. @returns {Promise<List>} @throws {OfflineError} */
  async acceptInvitation(token) {
    const list = (await this.#ask("POST", `/v1/invitations/${segment(token)}/accept`)).body
    await this.#pull(...Copy.parts(list.id))
    return list
  }

  /** Invitations to the caller by name: `{id, list, title, inviter, role, createdAt, expiresAt}[]`. @throws {OfflineError} */
  async receivedInvitations() { return (await this.#ask("GET", "/v1/invitations")).body.invitations }

  /** Ends one of them. @param {string} id @param {"decline"|"block"} how `block` shows none of that inviter's again. */
  async refuseInvitation(id, how) { await this.#ask("POST", `/v1/invitations/${segment(id)}/${how}`) }

  /** @param {string} list @returns {Promise<Note[]>} In the order of their titles. */
  notes(list) { return this.#view.notes(list) }

  /**
   * Writes a note. If another member has changed it first, the entry is rejected, with `theirs`.
   * @param {string} list @param {string} title @param {string} markdown @returns {Promise<Entry>}
   * @param {{draft?: boolean, base?: string|null}} [options] `base`: the revision on which the text is based, null
   *   for a new note; by default the revision that is stored here.
   */
  async putNote(list, title, markdown, { draft, base } = {}) {
    if (base === undefined) base = await this.#seen(list, "notes", title)
    return this.#write({ action: "putNote", list, subject: title, label: title, draft, base, body: { markdown } })
  }

  /** @param {string} list @param {string} title @param {{draft?: boolean}} [options] @returns {Promise<Entry>} */
  async deleteNote(list, title, { draft } = {}) {
    return this.#write({ action: "deleteNote", list, subject: title, label: title, draft, base: await this.#seen(list, "notes", title) })
  }

  /** The user's own unpublished changes of a list. @param {string} list @returns {Promise<Draft[]>} */
  drafts(list) { return this.#view.drafts(list) }

  /** Publishes a draft. @param {string} list @param {Draft} draft @returns {Promise<Entry>} */
  publish(list, draft) { return this.#writeDraft("publish", list, draft) }

  /** Deletes a draft. @param {string} list @param {Draft} draft @returns {Promise<Entry>} */
  discardDraft(list, draft) { return this.#writeDraft("discardDraft", list, draft) }

  // The outbox. `sendAgain`, `change` and `drop` throw `not_stored` and `in_transit`; `undo` throws `not_stored`.

  /** @returns {Promise<Entry[]>} Oldest first, with at most the last 20 delivered entries. */
  outbox() { return this.#outbox.entries() }

  /** Sends a change again, unchanged. @param {number} id @returns {Promise<Entry>} @throws {OfflineError} */
  sendAgain(id) { return this.#queued(this.#outbox.sendAgain(id)) }

  /** Sends another body. @param {number} id @param {object} body @returns {Promise<Entry>} @throws {OfflineError} */
  change(id, body) { return this.#queued(this.#outbox.change(id, body)) }

  /** Deletes a change. @param {number} id @returns {Promise<Entry>} @throws {OfflineError} */
  drop(id) { return this.#queued(this.#outbox.drop(id)) }

  /** Undoes the removal of a bookmark. @param {number} id @returns {Promise<Entry>} @throws {OfflineError} */
  undo(id) { return this.#queued(this.#outbox.undo(id)) }

  /** Waits for delivery. @param {number} id @returns {Promise<Entry>} @throws {OfflineError} If it is not delivered. */
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

  /** @param {"manual"|"continuous"} mode It is stored, for all tabs. @returns {Promise<void>} */
  setMode(mode) { return this.#synchroniser.setMode(mode) }

  /** Sends and fetches everything now. @returns {Promise<void>} @throws {OfflineError} The cause of the failure. */
  syncNow() {
    return this.#tabs.leads ? this.#synchroniser.now() : this.#tabs.askLeader({ kind: "sync" })
  }

  /** Closes the database and the channel to other tabs; this tab no longer leads. */
  close() {
    this.#tabs.close()
    this.#database.close()
  }

  // Messages between the parts

  /** Sends a request outside of a round. If the answer is that the session has ended, the page is told. */
  async #ask(...request) {
    return call(...request).catch(error => {
      if (error.isSessionEnd) this.check().catch(() => {})
      throw error
    })
  }

  async #root(list) { return `/v1/lists/${segment((await this.#view.place(list)).name)}` }

  async #document(id, list) { return `${list ? await this.#root(list) : "/v1"}/documents/${segment(id)}` }

  #write(change) {
    this.#session.wake()
    return this.#queued(this.#outbox.add(change))
  }

  /** The revision that reads return; null for none; undefined for a draft, whose base the server knows. */
  async #seen(list, kind, id) {
    const it = (await this.#view.place(list))[kind].get(id)
    return it ? it.draft ? undefined : it.rev : null
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
    // A page that knows a list by its local id listens for that id.
    places = places.flatMap(it => [it, this.#view.aliases[it] ?? it])
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
    else if (kind === "sync" && this.#tabs.leads) await this.#tabs.answer(message, this.#synchroniser.now())
    else if (kind === "session") {
      if (!message.isOwn) await this.#session.load()
      this.#tell("session", this.session)
      await this.#show(["own", "lists"], true)
      if (this.#tabs.leads) this.#synchroniser.restart()
    }
  }

  #tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })) }

  #fail(error) { this.#tell("failure", error) }
}
