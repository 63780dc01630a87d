import { Copy } from "./copy.js"
import { Parts } from "./parts.js"
import { call, randomID, segment } from "./server.js"
import { annotated, annotation } from "./actions.js"
import { OfflineError } from "./error.js"
import { hotel, places, search } from "./hotels.js"
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
  #parts; #options

  /** @private */
  constructor(database, options) {
    super()
    this.#options = options
    this.#parts = new Parts(database, options, (name, detail) => this.#tell(name, detail))
  }

  /** @private */
  async begin() {
    await this.#parts.begin()
    if (this.#options.worker) {
      // Without the worker the page is not kept; the next visit asks again.
      registerWorker(version => this.#tell("update", { version })).catch(() => {})
    }
  }

  // The session

  /** @returns {Session} */
  get session() { return this.#parts.session.state }

  /** Starts a guest if there is no session, as every write does. @returns {Promise<Session>} */
  start() { return this.#parts.session.start() }

  /** Asks the server whether the session is still valid. @returns {Promise<Session>} */
  check() { return this.#parts.session.check() }

  /** Creates an account, as `logIn` in all else. @returns {Promise<Entered>} @throws {OfflineError} Also `conflict`. */
  signUp(credentials) { return this.#parts.session.enter("/v1/users", credentials) }

  /**
   * Logs in. The account takes over the bookmarks of this browser's guest; {@link Client#undoAdoption} undoes it.
   * @param {{username: string, password: string, discard?: boolean}} credentials `discard`: also for another user than
   *   the one whose session has ended here, whose unsent changes are then deleted.
   * @returns {Promise<Entered>} @throws {OfflineError} `offline`, `signed_in`, `outbox_not_empty`, or the server's.
   */
  logIn(credentials) { return this.#parts.session.enter("/v1/sessions", credentials) }

  /**
   * Logs out and removes all data of the user from this browser. Without a network, the server is informed later.
   * @param {{discard?: boolean, everywhere?: boolean}} [options] `discard`: delete changes that the server does not have.
   *   `everywhere`: end the user's sessions on all other devices, too; this needs the network.
   * @returns {Promise<void>} @throws {OfflineError} `outbox_not_empty`; with `everywhere` also `offline`
   */
  logOut({ discard, everywhere } = {}) { return this.#parts.session.leave({ discard, everywhere }) }

  /** Erases the account and its data, here and on the server; the user's own lists are deleted, or offered to members. */
  erase({ lists = "delete" } = {}) { return this.#parts.session.leave({ erase: lists }) }

  /** Sets another password with the token of the operator's link. @throws {OfflineError} Also `unauthorized`. */
  async resetPassword({ token, password }) { await call("POST", "/v1/password-resets", { body: { token, password } }) }

  /** Changes the password; every other session ends. */
  async changePassword({ currentPassword, password }) { await this.#ask("PUT", "/v1/me/password", { currentPassword, password }) }

  /** Sets the name that others see of a user of another issuer. @param {string|null} displayName */
  async setDisplayName(displayName) {
    await this.#ask("PATCH", "/v1/me", { displayName })
    await this.check()
  }

  /** The account: `{id, kind, username, displayName?, usage, quota, expiresAt}`. */
  me() { return this.#ask("GET", "/v1/me") }

  /**
   * Reads an export into a user's empty account: `{documents, tombstones, bodies, notes}`.
   * @param {File} file As `GET /v1/me/export` answers it, packed with gzip if its name ends so.
   */
  async importData(file) {
    const headers = { "content-type": "application/x-ndjson", ...(/\.gz$/i.test(file.name) && { "content-encoding": "gzip" }) }
    const { body } = await call("POST", "/v1/me/import", { file, headers, timeout: 600_000 })
    await this.#parts.pull("own", "lists")
    return body
  }

  /** The adoptions of guests' bookmarks: `{id, bookmarks, time, undoableUntil, differing: {id, rev}[]}[]`. */
  async adoptions() { return (await this.#ask("GET", "/v1/me/adoptions")).adoptions }

  /** Undoes an adoption, within 24 hours. @param {string} id */
  async undoAdoption(id) { await this.#ask("DELETE", `/v1/me/adoptions/${segment(id)}`).then(() => this.#parts.pull("own")) }

  // Hotels

  /**
   * Searches hotels on the server, or else in this browser's copy. @param {{signal?: AbortSignal}} [options]
   * @param {{description?: string, location?: string, limit?: number, offset?: number, sort?: string, near?: string}} query
   * @returns {Promise<SearchAnswer>} @throws {OfflineError} The server's, or the signal's reason.
   */
  search(query = {}, { signal } = {}) { return search(this.#parts.view, query, signal) }

  /**
   * The places of the server's hotels, to complete one. @param {{prefix?: string, limit?: number}} query
   * @returns {Promise<{places: object[], sorts: string[]}>} @throws {OfflineError} The server's, or `offline`.
   */
  places(query = {}, { signal } = {}) { return places(query, signal) }

  /**
   * One hotel, from the server or this browser's copy. @param {string} id @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<Hotel>} @throws {OfflineError} `not_found`; `offline` if the copy does not have it.
   */
  hotel(id, { signal } = {}) { return hotel(this.#parts.view, id, signal) }

  // Bookmarks. Each write returns its outbox entry as soon as the entry is stored here; see `settled`.

  /** Own bookmarks, or a list's, newest first. @param {{list?: string}} [options] @returns {Promise<Bookmark[]>} */
  bookmarks({ list } = {}) { return this.#parts.view.bookmarks(list) }

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
    const former = (await this.#parts.view.place(list)).bookmarks.get(id)
    return this.#write({
      action: "unbookmark", subject: id, label: former?.hotel.name ?? id, former, undoable: !draft && !!former, list, draft,
      base: await this.#seen(list, "bookmarks", id), body: draft ? undefined : { remove: [id] }
    })
  }

  /**
   * Writes the user's own words on a bookmark, its hotel's `myNote` and `myTags`. They are joined with what another device
   * has written meanwhile. @param {string} id @param {{note: string, tags: string[]}} words @returns {Promise<Entry>}
   * @throws {OfflineError} `not_stored`
   */
  async annotate(id, words) {
    const known = await this.#parts.view.bookmark(id)
    return this.#write({
      action: "annotate", subject: id, label: known.hotel.name ?? id, base: known.rev, former: annotation(known.hotel),
      body: annotated(known.hotel, words)
    })
  }

  // Photos. `putPhoto` and `deletePhoto` throw `not_stored`.

  /** A photo, as a blob. @param {Photo} photo One of a bookmark's. @throws {OfflineError} `offline` if it is not here. */
  photo(id, photo, { list } = {}) { return this.#parts.view.photo(id, photo, list) }
  /** Gives a bookmark a photo of at most 10 MiB. @param {Blob} blob @param {{list?: string, name?: string}} [options] @returns {Promise<Entry>} */
  async putPhoto(id, blob, options) { return this.#write(await this.#parts.view.photoChange("putPhoto", id, blob, options), blob) }
  /** Removes a photo. @param {string} id @param {string} name @param {{list?: string}} [options] @returns {Promise<Entry>} */
  async deletePhoto(id, name, options) { return this.#write(await this.#parts.view.photoChange("deletePhoto", id, {}, { ...options, name })) }

  /**
   * One page of a document's revisions, newest first: `{id, revisions, next}`; see the book's page *History*.
   * @param {string} id A hotel's id, `bookmarkedhotels` for the whole list of bookmarks, or `LIST:TITLE` for a note.
   * @param {{list?: string, after?: string, limit?: number}} [options]
   * @throws {OfflineError} `offline`, `not_found`.
   */
  async history(id, { list, after, limit = 50 } = {}) {
    const query = new URLSearchParams({ limit, ...(after && { after }) })
    return this.#ask("GET", `${await this.#document(id, list)}/revisions?${query}`)
  }

  /** The content of a revision. @param {string} id @param {string} rev @param {{list?: string}} [options] */
  async revision(id, rev, { list } = {}) {
    return this.#ask("GET", `${await this.#document(id, list)}/revisions/${segment(rev)}`)
  }

  /** Restores an earlier revision. @returns {Promise<Entry>} */
  restore(id, rev, { list, label = id, base } = {}) {
    return this.#write({ action: "restore", subject: id, label, list, body: { rev, ...(base && { base }) } })
  }

  // Lists, for users only: the server refuses a guest's writes with `account_needed`.

  /** @returns {Promise<List[]>} The last changed list first. */
  lists() { return this.#parts.view.lists() }

  /** @param {string} id @returns {Promise<List>} @throws {OfflineError} `not_stored` */
  list(id) { return this.#parts.view.list(id) }

  /** Makes a list: the entry's `list`. @param {{title: string, markdown?: string}} body @returns {Promise<Entry>} */
  makeList({ title, markdown = "" }) {
    return this.#write({ action: "makeList", list: `new-${randomID()}`, label: title, body: { title, markdown } })
  }

  /** Changes a list. The server joins a description with what others wrote since `markdownSeen`, by default the one here. */
  async changeList(list, body) {
    const seen = body.markdown !== undefined && { markdownSeen: (await this.list(list)).markdown }
    return this.#write({ action: "changeList", list, label: body.title, body: { ...seen, ...body } })
  }

  /** Offers a list to a member, who owns it after accepting. @param {string} list @param {string} username */
  async offerList(list, username) { await this.#askOf(list, "PATCH", "", { owner: username }) }

  /** Deletes a list for all members. @param {string} list @returns {Promise<Entry>} */
  endList(list) { return this.#write({ action: "endList", list }) }

  /** Leaves a list that another user owns. @param {string} list @returns {Promise<Entry>} */
  leaveList(list) { return this.#write({ action: "leaveList", list, subject: this.session.username }) }

  /** @param {string} list @param {string} username @param {"editor"|"reader"} role @returns {Promise<Entry>} */
  setMember(list, username, role, label = username) {
    return this.#write({ action: "setMember", list, subject: username, label, body: { role } })
  }

  /** @param {string} list @param {string} username @returns {Promise<Entry>} */
  removeMember(list, username, label = username) {
    return this.#write({ action: "removeMember", list, subject: username, label })
  }

  /** Fetches a list and its members again. @param {string} list */
  async renewList(list) { await this.#parts.pull(`${(await this.#parts.view.place(list)).name}/list`) }

  /** Open invitations: `{id, role, username?, createdAt, expiresAt}[]`. */
  async invitations(list) { return (await this.#askOf(list, "GET", "/invitations")).invitations }

  /**
   * Makes an invitation. @param {string} list @param {{role: "editor"|"reader", expiresAt?: string}} wish
   * @returns {Promise<{id: string, token: string, role: string, expiresAt: string}>} Nothing returns the token again.
   */
  invite(list, wish) { return this.#askOf(list, "POST", "/invitations", wish) }

  /**
   * Invites a user by name. A member has the role at once. @param {string} list @param {string} username
   * @param {"editor"|"reader"} role @returns {Promise<"invited"|"member">} @throws {OfflineError} Also `not_found`.
   */
  async inviteByName(list, username, role) {
    const path = `${await this.#root(list)}/members/${segment(username)}`
    const { status } = await this.#parts.ask("PUT", path, { body: { role } })
    if (status === 202) return "invited"
    await this.#parts.pull(`${list}/list`)
    return "member"
  }

  /** Withdraws an invitation. */
  async withdraw(list, invitation) { await this.#askOf(list, "DELETE", `/invitations/${segment(invitation)}`) }

  /** The history of a list: `{changes, next}`; see the book's page *History*. @param {string} list */
  async changes(list, { after } = {}) { return this.#askOf(list, "GET", `/history${after ? `?after=${after}` : ""}`) }

  /** Links that show a list without an account: `{id, createdAt}[]`. @param {string} list */
  async links(list) { return (await this.#askOf(list, "GET", "/links")).links }

  /** Makes one: `{id, secret, url, createdAt}`. Nothing returns the secret again. @param {string} list */
  makeLink(list) { return this.#askOf(list, "POST", "/links") }

  /** @param {string} list @param {string} id */
  async withdrawLink(list, id) { await this.#askOf(list, "DELETE", `/links/${segment(id)}`) }

  /** Joins a list. @param {string} token Or an id of `receivedInvitations`. @returns {Promise<List>} */
  async acceptInvitation(token) {
    const list = await this.#ask("POST", `/v1/invitations/${segment(token)}/accept`)
    await this.#parts.pull(...Copy.parts(list.id))
    return list
  }

  /** Invitations to the caller by name, and lists that they are offered (role `owner`): `{id, list, title, inviter, inviterDisplayName?, role, createdAt, expiresAt}[]`. */
  async receivedInvitations() { return (await this.#ask("GET", "/v1/invitations")).invitations }

  /** Ends one of them. @param {string} id @param {"decline"|"block"} how `block` shows none of that inviter's again. */
  async refuseInvitation(id, how) { await this.#ask("POST", `/v1/invitations/${segment(id)}/${how}`) }

  /** The people whose invitations are not shown: `{username, displayName?}[]`. */
  async blocked() { return (await this.#ask("GET", "/v1/blocked")).blocked }

  /** Shows the invitations of a blocked person again. @param {string} username */
  async unblock(username) { await this.#ask("DELETE", `/v1/blocked/${segment(username)}`) }

  /** @param {string} list @returns {Promise<Note[]>} In the order of their titles. */
  notes(list) { return this.#parts.view.notes(list) }

  /**
   * Writes a note. The server merges it by lines with what others have changed since its base. If they have changed the
   * same lines, the entry is rejected, with `theirs`.
   * @param {string} list @param {string} title @param {string} markdown @returns {Promise<Entry>}
   * @param {{draft?: boolean, base?: string|null, after?: number|null}} [options] `base`: the revision on which the text is
   *   based, null for a new note; by default the revision that is stored here. `after`: the note's `entry` when the text was
   *   begun, null for none; by default the last one.
   */
  async putNote(list, title, markdown, { draft, base, after } = {}) {
    if (base === undefined) base = await this.#seen(list, "notes", title)
    return this.#write({ action: "putNote", list, subject: title, label: title, draft, base, after, body: { markdown } })
  }

  /** Removes a note, unless others have changed it since `base`, by default the revision that is stored here. */
  async deleteNote(list, title, { draft, base } = {}) {
    return this.#write({ action: "deleteNote", list, subject: title, label: title, draft, base: base === undefined ? await this.#seen(list, "notes", title) : base })
  }

  /** The user's own unpublished changes of a list. @param {string} list @returns {Promise<Draft[]>} */
  drafts(list) { return this.#parts.view.drafts(list) }

  /** Publishes a draft. @param {string} list @param {Draft} draft @returns {Promise<Entry>} */
  publish(list, draft) { return this.#writeDraft("publish", list, draft) }

  /** Deletes a draft, unless another device has changed it since `draft.rev`. @param {string} list @param {Draft} draft @returns {Promise<Entry>} */
  discardDraft(list, draft) { return this.#writeDraft("discardDraft", list, draft) }

  // The outbox. `sendAgain`, `change` and `drop` throw `not_stored` and `in_transit`; `undo` throws `not_stored`.

  /** @returns {Promise<Entry[]>} Oldest first, with at most the last 20 delivered entries. */
  outbox() { return this.#parts.outbox.entries() }

  /** Sends a change again, unchanged; a note that somebody has changed is then removed. @param {number} id @returns {Promise<Entry>} */
  sendAgain(id) { return this.#queued(this.#parts.outbox.sendAgain(id)) }
  /** Sends another body. @param {number} id @param {object} body @returns {Promise<Entry>} */
  change(id, body) { return this.#queued(this.#parts.outbox.change(id, body)) }
  /** Deletes a change. @param {number} id @returns {Promise<Entry>} */
  drop(id) { return this.#queued(this.#parts.outbox.drop(id)) }
  /** Undoes the removal of a bookmark. @param {number} id @returns {Promise<Entry>} */
  undo(id) { return this.#queued(this.#parts.outbox.undo(id)) }

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
  get sync() { return this.#parts.sync }

  /** @param {"manual"|"continuous"} mode It is stored, for all tabs. @returns {Promise<void>} */
  setMode(mode) { return this.#parts.synchroniser.setMode(mode) }

  /** Sends and fetches everything now. @returns {Promise<void>} @throws {OfflineError} The cause of the failure. */
  syncNow() {
    return this.#parts.tabs.leads ? this.#parts.synchroniser.now() : this.#parts.tabs.askLeader({ kind: "sync" })
  }

  /** Closes the database and the channel to other tabs; this tab no longer leads. */
  close() { this.#parts.close() }

  // Send a request, the second one to a path below a list's; they give the body of the answer.
  async #ask(method, path, body) { return (await this.#parts.ask(method, path, { body })).body }
  async #askOf(list, method, path, body) { return this.#ask(method, await this.#root(list) + path, body) }

  async #root(list) { return `/v1/lists/${segment((await this.#parts.view.place(list)).name)}` }
  async #document(id, list) { return `${list ? await this.#root(list) : "/v1"}/documents/${segment(id)}` }

  #write(change, blob) {
    this.#parts.session.wake()
    return this.#queued(this.#parts.outbox.add(change, blob))
  }

  /** The revision that reads return; null for none. */
  async #seen(list, kind, id) {
    const it = (await this.#parts.view.place(list))[kind].get(id)
    return it ? it.rev : null
  }

  #writeDraft(action, list, { kind = "note", id, title, rev }) {
    return this.#write({ action, list, kind, draft: true, base: rev, subject: id ?? title, label: title ?? id })
  }

  async #queued(writing) {
    const entry = await writing
    this.#parts.changed(entry.list ? [entry.list, "lists"] : ["own"], true)
    this.#parts.tabs.tellLeader({ kind: "send" })
    return entry
  }

  #tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail })) }
}
