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
 * an outbox and are visible at once; they are sent when the server can be reached. All tabs share both.
 * Every function that fails throws an {@link OfflineError}.
 */
import { Client } from "./offline/client.js"
import { Database } from "./offline/database.js"
import { OfflineError } from "./offline/error.js"

export { Client, OfflineError }

/**
 * @typedef {object} Session The user of this browser.
 * @property {"none"|"active"|"ended"} state `none`: no session (offline at the first visit, or logged out). `ended`:
 *   the server no longer knows the session; after the next log-in, the stored data and the outbox are still here.
 * @property {string} [id]
 * @property {"guest"|"user"} [kind]
 * @property {string} [username] A user's name.
 * @property {string} [displayName] The name that a user of another issuer has chosen.
 * @property {string} [keptUntil] For a guest: when the server erases the data, if the session is not used before. RFC 3339.
 *
 * @typedef {object} Hotel `id` and the known members: `name`, `address`, `city`, `state`, `country`, `description`, …
 *
 * @typedef {{id: string, rev?: string, bookmarkedAt: string, hotel: Hotel, addedBy?: string, draft?: boolean, pending?: boolean}} Bookmark
 * The hotel's id; `rev`, absent until the server has confirmed it; on a list, who added it, and whether it is the user's
 * own draft; whether the outbox has a change of it that the server has not confirmed.
 *
 * @typedef {{id: string, title: string, markdown: string, from?: string, to?: string, owner: string, role: "owner"|"editor"|"reader", members: {username: string, displayName?: string, role: string, joinedAt: string}[], createdAt: string, updatedAt: string, pending?: boolean}} List
 * `from` and `to` are the first and the last day of the trip, as 2026-05-01. `role` is the user's own; the owner is the first of `members`. A list that was made offline has an id `new-…` until it
 * is delivered; every function accepts both ids.
 *
 * @typedef {{title: string, markdown: string, rev?: string, createdAt: string, updatedAt: string, draft?: boolean, pending?: boolean}} Note
 *
 * @typedef {{kind: "bookmark"|"note", id?: string, title?: string, deleted?: boolean, updatedAt: string}} Draft
 * The id of a bookmark's hotel or the title of a note; whether the draft removes it.
 *
 * @typedef {object} Entry One change in the outbox.
 * @property {number} id
 * @property {"pending"|"transit"|"delivered"|"rejected"|"parked"} state `pending`: waits for an earlier change, the
 *   network or its next attempt. `transit`: sent, not answered yet. `delivered`: on the server's disk. `rejected`: the
 *   server refused it, and reads no longer include it. `parked`: the further attempts (by default three) also failed
 *   for a temporary reason; reads still include it, and it waits for {@link Client#sendAgain}, {@link Client#change} or
 *   {@link Client#drop}.
 * @property {string} action The name of the function that made it, such as `bookmark`.
 * @property {string} [list] The list's id; absent for the user's own bookmarks.
 * @property {string} [subject] The hotel's id, the note's title or the member's name.
 * @property {string} [label] A name for the user: the hotel's name, the note's or list's title.
 * @property {object} [body] The body of the request; {@link Client#change} replaces it.
 * @property {number} attempts How often it was sent.
 * @property {string} createdAt
 * @property {string} [nextAttemptAt]
 * @property {number} [status] The status of the last answer; 0 if there was none.
 * @property {string} [error] The error's code, such as `forbidden`.
 * @property {string} [reason] A text for the user: why it was rejected, parked or delayed.
 * @property {object} [theirs] For a rejected note: the server's present note (`markdown`, `rev`).
 * @property {boolean} [undoable] {@link Client#undo} can undo it.
 *
 * @typedef {object} SyncState The state of syncing.
 * @property {"continuous"|"manual"} mode `manual`: only {@link Client#syncNow} sends and fetches.
 * @property {"idle"|"syncing"|"offline"|"error"} phase
 * @property {number} done The finished steps of this round.
 * @property {number} total The steps known so far.
 * @property {number} waiting The entries that are pending or in transit.
 * @property {number} stuck The entries that are rejected or parked.
 * @property {boolean} live The stream of changes is open, in this tab or another, and something has come by it.
 * @property {boolean} quiet Nothing has come by the stream for 45 seconds, as behind a proxy that keeps what the server
 *   sends: the changes of others are fetched every 45 seconds.
 * @property {boolean} intercepted In the phase `offline`: something between this browser and the server answers in its
 *   place, such as a network's log-in page. The page at `/?network` is never answered by the service worker.
 * @property {string|null} lastSync RFC 3339.
 * @property {string|null} error The cause of the phase `error`.
 *
 * @typedef {object} SearchAnswer
 * @property {"upstream"|"cache"|"stale"|"mirror"|"device"} source `device`: this browser's copy, because the server
 *   could not be reached or could not search.
 * @property {(Hotel & {bookmarked: boolean})[]} hotels
 * @property {number} [total]
 * @property {"most"} [matched] No hotel has all words; these have most of them.
 * @property {number} [next] The next page's `offset`; absent at the end.
 * @property {string} [reason] The cause of the source `device`.
 */

/**
 * Opens this browser's copy and starts to sync. Without a session it starts a guest, as soon as the server can be
 * reached. Call it once in each page; several tabs may be open.
 * @param {object} [options]
 * @param {boolean} [options.worker=false] Whether to install the service worker that keeps the app at `/` for offline
 *   use. It does nothing for other pages.
 * @param {number[]} [options.backoff=[1000, 4000, 16000]] Milliseconds before each further attempt of a failed write.
 * @returns {Promise<Client>}
 * @throws {OfflineError} `storage_unavailable`: there is no IndexedDB, as in some private windows. `storage_blocked`:
 *   another tab with an older version of this page is open; close it. `storage_newer`: a newer version of this page has
 *   changed the database; reload. `storage_full`.
 */
export async function open(options = {}) {
  const client = new Client(await Database.open(), options)
  await client.begin()
  return client
}
