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
import { Client } from "./offline/client.js"
import { Database } from "./offline/database.js"
import { OfflineError } from "./offline/error.js"

export { Client, OfflineError }

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
