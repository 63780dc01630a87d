/**
 * Hotel Bookmarks for web pages, offline first. A page needs one import, and no script ever has a token.
 *
 *     import { open } from "/offline.js"
 *     const client = await open()
 *     client.addEventListener("change", async () => show(await client.bookmarks()))
 *     const { hotels } = await client.search({ description: "pool", location: "Paris" })
 *     await client.bookmark(hotels[0])
 *
 * Reads return data from this browser's database (IndexedDB), which is updated in the background. Writes are stored in
 * an outbox and are visible at once; they are sent when the server can be reached. All tabs with the same server share both.
 * Every function that fails throws an {@link OfflineError}.
 */

/**
 * Opens this browser's copy and starts to sync. Without a session it starts a guest, as soon as the server can be
 * reached. Call it once in each page; several tabs may be open.
 * @throws {OfflineError} `storage_unavailable`: there is no IndexedDB, as in some private windows. `storage_blocked`:
 *   another tab with an older version of this page is open; close it. `storage_newer`: a newer version of this page has
 *   changed the database; reload. `storage_full`. `other_server`: the page has opened the copy of another server.
 */
export function open(options?: OpenOptions): Promise<Client>

export interface OpenOptions {
  /**
   * The server's URL, for a page of another origin. The server's setting `--origins` must have the page's origin. The
   * session is a cookie that browsers send to the same site only: `https://app.hotels.example` may use
   * `https://api.hotels.example`. One page uses one server; the browser keeps a database for each.
   */
  server?: string
  /**
   * Whether to install the service worker that keeps the app at `/` for offline use; by default not. It does nothing for
   * other pages.
   */
  worker?: boolean
  /** Milliseconds before each further attempt of a failed write; by default 1000, 4000 and 16000. */
  backoff?: number[]
}

/** The user of this browser. */
export interface Session {
  /**
   * `none`: no session (offline at the first visit, or logged out). `ended`: the server no longer knows the session; after
   * the next log-in, the stored data and the outbox are still here.
   */
  state: "none" | "active" | "ended"
  id?: string
  kind?: "guest" | "user"
  /** A user's name. */
  username?: string
  /** The name that a user of another issuer has chosen. */
  displayName?: string
  /** For a guest: when the server erases the data, if the session is not used before. RFC 3339. */
  keptUntil?: string
}

/** The session after a log-in or a sign-up. */
export interface Entered extends Session {
  /** Why what the guest had is not in the account yet, such as `quota_exceeded`. It comes with a later log-in, or within a day. */
  waiting?: { error: string, reason: string }
}

/** The known members, and any others. */
export interface Hotel {
  id: string
  name?: string | null
  title?: string | null
  description?: string | null
  address?: string | null
  city?: string | null
  state?: string | null
  country?: string | null
  phone?: string | null
  url?: string | null
  amenities?: string[] | null
  geo?: { lat?: number, lon?: number } | null
  /** The user's own words. */
  myNote?: string
  myTags?: string[]
  [member: string]: any
}

export interface Bookmark {
  /** The hotel's id. */
  id: string
  /** Absent until the server has confirmed it. */
  rev?: string
  bookmarkedAt: string
  hotel: Hotel
  /** Absent if there are none. */
  photos?: Photo[]
  /** On a list: who added it. */
  addedBy?: string
  /** Whether it is the user's own draft. */
  draft?: boolean
  /** Whether the outbox has a change of it that the server has not confirmed. */
  pending?: boolean
}

export interface Photo {
  name: string
  /** `image/jpeg`, `image/png`, `image/webp`, `image/gif` or `image/heic`. */
  type: string
  /** In bytes. */
  size: number
  /** Absent until the server has confirmed it. */
  digest?: string
  pending?: boolean
  [member: string]: any
}

export type Role = "owner" | "editor" | "reader"

export interface List {
  /** `new-…` for a list that was made offline, until it is delivered; every function accepts both ids. */
  id: string
  title: string
  markdown: string
  /** The first and the last day of the trip, as in `2026-05-01`. */
  from?: string
  to?: string
  owner: string
  /** The user's own. */
  role: Role
  /** The owner first. */
  members: { username: string, displayName?: string, role: string, joinedAt: string }[]
  createdAt: string
  updatedAt: string
  pending?: boolean
}

export interface Note {
  title: string
  markdown: string
  rev?: string
  createdAt: string
  updatedAt: string
  draft?: boolean
  pending?: boolean
  /** The change in the outbox that it is of. */
  entry?: number
}

export interface Draft {
  kind: "bookmark" | "note"
  /** Of a bookmark: the hotel's id. */
  id?: string
  /** Of a note. */
  title?: string
  /** The draft's own revision. */
  rev?: string
  /** Whether the draft removes it. */
  deleted?: boolean
  updatedAt: string
}

/** One change in the outbox. */
export interface Entry {
  id: number
  /**
   * `pending`: waits for an earlier change, the network or its next attempt. `transit`: sent, not answered yet.
   * `delivered`: on the server's disk. `rejected`: the server refused it, and reads no longer include it. `parked`: the
   * further attempts (by default three) also failed for a temporary reason; reads still include it, and it waits for
   * {@link Client.sendAgain}, {@link Client.change}, {@link Client.drop}, {@link Client.syncNow} or the next visit.
   */
  state: "pending" | "transit" | "delivered" | "rejected" | "parked"
  /** The name of the function that made it, such as `bookmark`. */
  action: string
  /** The list's id; absent for the user's own bookmarks. */
  list?: string
  /** The hotel's id, the note's title or the member's name. */
  subject?: string
  /** A name for the user: the hotel's name, the note's or list's title. */
  label?: string
  /** The body of the request; {@link Client.change} replaces it. */
  body?: object
  /** How often it was sent. */
  attempts: number
  createdAt: string
  nextAttemptAt?: string
  /** The status of the last answer; 0 if there was none. */
  status?: number
  /** The error's code, such as `forbidden`. */
  error?: string
  /** A text for the user: why it was rejected, parked or delayed. */
  reason?: string
  /** For a rejected note: the server's present note (`markdown`, `rev`); null if it was removed. */
  theirs?: { markdown: string, rev: string, [member: string]: any } | null
  /** For a rejected note: the text from which both began. */
  was?: string
  /** {@link Client.undo} can undo it. */
  undoable?: boolean
  [member: string]: any
}

/** The state of syncing. */
export interface SyncState {
  /** `manual`: only {@link Client.syncNow} sends and fetches. */
  mode: "continuous" | "manual"
  /** `syncing` also before the first round. */
  phase: "idle" | "syncing" | "offline" | "error"
  /** The finished steps of this round. */
  done: number
  /** The steps known so far. */
  total: number
  /** The entries that are pending or in transit. */
  waiting: number
  /** The entries that are rejected or parked. */
  stuck: number
  /** The stream of changes is open, in this tab or another, and something has come by it. */
  live: boolean
  /**
   * Nothing has come by the stream for 45 seconds, as behind a proxy that keeps what the server sends: the changes of
   * others are fetched every 45 seconds.
   */
  quiet: boolean
  /**
   * In the phase `offline`: something between this browser and the server answers in its place, such as a network's log-in
   * page. The page at `/?network` is never answered by the service worker.
   */
  intercepted: boolean
  /** RFC 3339; null until everything of this user was fetched once. */
  lastSync: string | null
  /** The cause of the phase `error`, and its code if it has one. */
  error: string | null
  code?: string
}

export interface Query {
  description?: string
  location?: string
  limit?: number
  offset?: number
  sort?: "relevance" | "name" | "price" | "distance"
  /** Latitude and longitude in degrees, as in `51.5,-0.12`. */
  near?: string
}

export interface SearchAnswer {
  /** `device`: this browser's copy, because the server could not be reached or could not search. */
  source: "upstream" | "cache" | "stale" | "mirror" | "device"
  hotels: (Hotel & { bookmarked: boolean })[]
  total?: number
  /** No hotel has all words; these have most of them. */
  matched?: "most"
  /** The next page's `offset`; absent at the end. */
  next?: number
  /** The cause of the source `device`. */
  reason?: string
}

export interface Revision {
  rev: string
  parent?: string
  time?: string
  by?: { kind: "guest" | "user" | "administrator" | "server", name?: string, displayName?: string }
  current: boolean
  deleted: boolean
  conflicting: boolean
  kept: boolean
}

/** The events of a {@link Client}; each is dispatched in every tab. */
export interface ClientEvents {
  /** The results of reads may have changed. `places` has `"own"`, ids of lists, and `"lists"`. */
  change: CustomEvent<{ places: string[] }>
  /** All entries, oldest first. */
  outbox: CustomEvent<Entry[]>
  /** The server refused this entry; reads no longer include its change. */
  rejected: CustomEvent<Entry>
  sync: CustomEvent<SyncState>
  /** The user of this browser has changed, in this tab or another. */
  session: CustomEvent<Session>
  /** A new version of the page is ready; a reload shows it. */
  update: CustomEvent<{ version: string }>
  /** Something failed in the background, such as `storage_full`. */
  failure: CustomEvent<OfflineError>
}

/** The API for pages: an `EventTarget`. {@link open} creates it. */
export class Client {
  private constructor()
  addEventListener<Name extends keyof ClientEvents>(
    name: Name, listener: (event: ClientEvents[Name]) => any, options?: boolean | AddEventListenerOptions): void
  removeEventListener<Name extends keyof ClientEvents>(
    name: Name, listener: (event: ClientEvents[Name]) => any, options?: boolean | EventListenerOptions): void
  dispatchEvent(event: Event): boolean

  readonly session: Session
  /** Starts a guest if there is no session, as every write does. */
  start(): Promise<Session>
  /** Asks the server whether the session is still valid. */
  check(): Promise<Session>
  /** Creates an account, as {@link Client.logIn} in all else. @throws {OfflineError} Also `conflict`. */
  signUp(credentials: { username: string, password: string, discard?: boolean }): Promise<Entered>
  /**
   * Logs in. The account takes over the bookmarks of this browser's guest; {@link Client.undoAdoption} undoes it.
   * @param credentials `discard`: also for another user than the one whose session has ended here, whose unsent changes are
   *   then deleted.
   * @throws {OfflineError} `offline`, `signed_in`, `outbox_not_empty`, or the server's.
   */
  logIn(credentials: { username: string, password: string, discard?: boolean }): Promise<Entered>
  /**
   * Logs out and removes all data of the user from this browser. Without a network, the server is informed later.
   * @param options `discard`: delete changes that the server does not have. `everywhere`: end the user's sessions on all
   *   other devices, too; this needs the network.
   * @throws {OfflineError} `outbox_not_empty`; with `everywhere` also `offline`.
   */
  logOut(options?: { discard?: boolean, everywhere?: boolean }): Promise<void>
  /** Erases the account and its data. The user's own lists are deleted, or offered to their members. */
  erase(options?: { lists?: "delete" | "handOn" }): Promise<void>
  /** Sets another password with the token of the operator's link. */
  resetPassword(reset: { token: string, password: string }): Promise<void>
  /** Changes the password; every other session ends. */
  changePassword(change: { currentPassword: string, password: string }): Promise<void>
  /** Sets the name that others see of a user of another issuer. */
  setDisplayName(displayName: string | null): Promise<void>
  /** The account. */
  me(): Promise<any>
  /** Reads an export into a user's empty account. @param file As `GET /v1/me/export` answers it. */
  importData(file: File): Promise<{ documents: number, tombstones: number, bodies: number, notes: number }>
  /** The adoptions of guests' bookmarks. */
  adoptions(): Promise<{
    id: string, bookmarks: number, time: string, undoableUntil: string, differing: { id: string, rev: string }[]
  }[]>
  /** Undoes an adoption, within 24 hours. */
  undoAdoption(id: string): Promise<void>

  /** Searches hotels on the server, or else in this browser's copy. */
  search(query?: Query, options?: { signal?: AbortSignal }): Promise<SearchAnswer>
  /** The places of the server's hotels, to complete one. */
  places(query?: { prefix?: string, limit?: number }, options?: { signal?: AbortSignal }): Promise<{ places: any[], sorts: string[] }>
  /** One hotel. @throws {OfflineError} `not_found`; `offline` if this browser's copy does not have it. */
  hotel(id: string, options?: { signal?: AbortSignal }): Promise<Hotel>

  // Each write returns its entry as soon as it is stored here; `settled` waits for the server.

  /** Own bookmarks, or a list's, newest first. */
  bookmarks(options?: { list?: string }): Promise<Bookmark[]>
  /**
   * Bookmarks a hotel of a search result.
   * @param options `draft`: on a list, only the author sees it until it is published. `facts`: send the members of the
   *   hotel, too, for one that the server does not know. For a list its name, place and contact are sent then without it.
   */
  bookmark(hotel: Hotel, options?: { list?: string, draft?: boolean, facts?: boolean }): Promise<Entry>
  unbookmark(id: string, options?: { list?: string, draft?: boolean }): Promise<Entry>
  /** Writes the user's own words on a bookmark. @throws {OfflineError} `not_stored`. */
  annotate(id: string, words: { note: string, tags: string[] }): Promise<Entry>
  /** A photo of a bookmark. @throws {OfflineError} `offline` if it is not stored here. */
  photo(id: string, photo: Photo, options?: { list?: string }): Promise<Blob>
  /**
   * Gives a bookmark a photo. The server removes what does not belong to its picture, such as where it was taken.
   * @param blob Of at most 10 MiB: JPEG, PNG, WebP, GIF or HEIC.
   * @param options `name`: by default another one each time.
   * @throws {OfflineError} `not_stored`.
   */
  putPhoto(id: string, blob: Blob, options?: { list?: string, name?: string }): Promise<Entry>
  deletePhoto(id: string, name: string, options?: { list?: string }): Promise<Entry>
  /**
   * One page of a document's revisions, newest first.
   * @param id A hotel's id, `bookmarkedhotels` for the whole list of bookmarks, or `LIST:TITLE` for a note.
   */
  history(id: string, options?: { list?: string, after?: string, limit?: number }): Promise<{ id: string, revisions: Revision[], next?: string }>
  /** The content of a revision. */
  revision(id: string, rev: string, options?: { list?: string }): Promise<any>
  /** Restores an earlier revision. @param options `base`: the present revision; if it is another one, the entry is rejected. */
  restore(id: string, rev: string, options?: { list?: string, label?: string, base?: string }): Promise<Entry>

  // Lists are for users only: the server refuses a guest's writes with `account_needed`.

  /** The last changed list first. */
  lists(): Promise<List[]>
  /** @throws {OfflineError} `not_stored`. */
  list(id: string): Promise<List>
  /** Makes a list: the entry's `list`. */
  makeList(body: { title: string, markdown?: string }): Promise<Entry>
  /**
   * Null removes a day. A description is joined with what others have written since `markdownSeen`, by default the
   * description that is here.
   */
  changeList(list: string, body: { title?: string, markdown?: string, markdownSeen?: string, from?: string | null, to?: string | null }): Promise<Entry>
  /** The last change of each document of a list, the latest first; see the book's page *History*. */
  changes(list: string, options?: { after?: string }): Promise<{ changes: any[], next?: string }>
  /** Offers a list to a member, who owns it after accepting. */
  offerList(list: string, username: string): Promise<void>
  /** Deletes a list for all members. */
  endList(list: string): Promise<Entry>
  /** Leaves a list that another user owns. */
  leaveList(list: string): Promise<Entry>
  setMember(list: string, username: string, role: "editor" | "reader", label?: string): Promise<Entry>
  removeMember(list: string, username: string, label?: string): Promise<Entry>
  /** Fetches a list and its members again. */
  renewList(list: string): Promise<void>
  /** Open invitations. */
  invitations(list: string): Promise<any[]>
  /** Makes an invitation. Nothing returns the token again. */
  invite(list: string, wish: { role: "editor" | "reader", expiresAt?: string }): Promise<{ id: string, token: string, role: string, expiresAt: string }>
  /** Invites a user by name. A member has the role at once. @throws {OfflineError} Also `not_found`. */
  inviteByName(list: string, username: string, role: "editor" | "reader"): Promise<"invited" | "member">
  /** Withdraws an invitation. */
  withdraw(list: string, invitation: string): Promise<void>
  /** Joins a list. @param token Or an id of {@link Client.receivedInvitations}. */
  acceptInvitation(token: string): Promise<List>
  /** Invitations to the caller by name, and lists that they are offered (role `owner`). */
  receivedInvitations(): Promise<any[]>
  /** Ends one of them. @param how `block` shows none of that inviter's again. */
  refuseInvitation(id: string, how: "decline" | "block"): Promise<void>
  /** The people whose invitations are not shown. */
  blocked(): Promise<{ username: string, displayName?: string }[]>
  /** Shows the invitations of a blocked person again. */
  unblock(username: string): Promise<void>
  /** Links that show a list to people without an account. */
  links(list: string): Promise<{ id: string, createdAt: string }[]>
  /** Makes one. Nothing returns its secret again. */
  makeLink(list: string): Promise<{ id: string, secret: string, url: string, createdAt: string }>
  withdrawLink(list: string, id: string): Promise<void>
  /** In the order of their titles. */
  notes(list: string): Promise<Note[]>
  /**
   * Writes a note. The server merges it by lines with what others have changed since its base. If they have changed the
   * same lines, the entry is rejected, with `theirs`.
   * @param options `base`: the revision on which the text is based, null for a new note; by default the revision that is
   *   stored here. `after`: the note's `entry` when the text was begun, null for none; by default the last one.
   */
  putNote(list: string, title: string, markdown: string, options?: { draft?: boolean, base?: string | null, after?: number | null }): Promise<Entry>
  /** Removes a note, unless others have changed it since `base`, by default the revision that is stored here. */
  deleteNote(list: string, title: string, options?: { draft?: boolean, base?: string | null }): Promise<Entry>
  /** The user's own unpublished changes of a list. */
  drafts(list: string): Promise<Draft[]>
  /** Publishes a draft, or the draft of a note. */
  publish(list: string, draft: Draft | Pick<Note, "title">): Promise<Entry>
  /** Deletes a draft, or the draft of a note, unless another device has changed it since `rev`. */
  discardDraft(list: string, draft: Draft | Note): Promise<Entry>

  // The outbox. `sendAgain`, `change` and `drop` throw `not_stored` and `in_transit`; `undo` throws `not_stored`.

  /** Oldest first, with at most the last 20 delivered entries. */
  outbox(): Promise<Entry[]>
  /** Sends a change again, unchanged. The removal of a note or draft that was refused because somebody has changed it is then done all the same. */
  sendAgain(id: number): Promise<Entry>
  /** Sends another body. */
  change(id: number, body: object): Promise<Entry>
  /** Deletes a change. */
  drop(id: number): Promise<Entry>
  /** Undoes the removal of a bookmark. */
  undo(id: number): Promise<Entry>
  /** Waits for delivery. @throws {OfflineError} If it is not delivered. */
  settled(id: number): Promise<Entry>

  readonly sync: SyncState
  /** The mode is stored, for all tabs. */
  setMode(mode: "manual" | "continuous"): Promise<void>
  /** Sends and fetches everything now. @throws {OfflineError} The cause of the failure. */
  syncNow(): Promise<void>
  /** Closes the database and the channel to other tabs; this tab no longer leads. */
  close(): void
}

/**
 * A failure. `code` is the server's `error`, or one of this module's: `offline` (the server could not be reached),
 * `intercepted` (something between answers in its place, such as a network's log-in page), `storage_unavailable`,
 * `storage_blocked`, `storage_newer`, `storage_full`, `storage_failed`, `outbox_not_empty`, `signed_in`, `not_stored` (not in
 * this browser's copy), `in_transit`, `other_server`.
 */
export class OfflineError extends Error {
  constructor(code: string, reason: string, more?: { status?: number, retryAfter?: number, problem?: object })
  readonly code: string
  /** A text for the user. */
  readonly reason: string
  /** 0 if there was no answer. */
  readonly status: number
  /** Milliseconds. */
  readonly retryAfter?: number
  readonly problem?: any
  /** Whether the server could not be reached. */
  readonly isOffline: boolean
  /** Whether the same request may succeed later. */
  readonly mayPass: boolean
  /** Whether the server no longer knows the session. */
  readonly isSessionEnd: boolean
}
