import { OfflineError } from "./error.js"
import { keptName } from "./server.js"

/**
 * The schema's version. A higher one adds missing stores; any other change needs a step in `upgrade`. The object stores:
 * - `meta`: `session`, `feed` (the position in the stream of changes), `mode`, `lastSync`, `aliases`, `leader`,
 *   `ending`, `places` (the lines of `places.js` and their URL)
 * - `bookmarks`: as the server confirmed them; the key is `[place, id]`; a place is `own` or a list's id
 * - `orders`: for each place the `ids` of its bookmarks, newest first; for `own` also the mirror's `token`
 * - `lists`, `notes`, `drafts`: as the server confirmed them
 * - `outbox`: the changes made in this browser, in order
 * - `found`: the hotels of the last searches, and when each was found
 * - `photos`: the bytes of photos; see `photos.js`
 */
const version = 3
/**
 * How long to wait for tabs with an older version to close the database, and for a browser that is busy or says nothing of
 * such tabs, in milliseconds.
 */
const patience = 4000, longPatience = 60_000

const schema = {
  meta: {}, orders: { keyPath: "place" }, bookmarks: { keyPath: ["place", "id"] },
  lists: { keyPath: "id" }, notes: { keyPath: ["list", "title"] }, drafts: { keyPath: ["list", "kind", "subject"] },
  outbox: { keyPath: "id", autoIncrement: true }, found: { keyPath: "hotel.id" },
  photos: { keyPath: "key" }
}

/** The names of all object stores. */
export const everything = Object.keys(schema)

/** IndexedDB with promises; its errors are {@link OfflineError}. */
export class Database {
  #handle

  constructor(handle) {
    this.#handle = handle
    // A newer version of the page can upgrade the database only when all older tabs have closed it.
    handle.onversionchange = () => handle.close()
  }

  /** @throws {OfflineError} `storage_unavailable`, `storage_blocked`, `storage_newer`, `storage_full`. */
  static open() {
    return new Promise((resolve, reject) => {
      const fail = (code, reason) => reject(new OfflineError(code, reason))
      const unavailable = "This browser keeps no data for this page, as in some private windows."
      let request
      try { request = indexedDB.open(keptName(), version) } catch { return fail("storage_unavailable", unavailable) }
      const blocked = () => fail("storage_blocked", "Another tab with an older version of this page is open: close it.")
      let timer = setTimeout(blocked, longPatience)
      request.onblocked = () => {
        clearTimeout(timer)
        timer = setTimeout(blocked, patience)
      }
      request.onupgradeneeded = () => upgrade(request.result)
      request.onerror = () => {
        clearTimeout(timer)
        const cause = request.error?.name
        if (cause === "VersionError") fail("storage_newer", "A newer version of this page was here: reload.")
        else if (cause === "QuotaExceededError") fail("storage_full", "The browser has no room left.")
        else fail("storage_unavailable", unavailable)
      }
      request.onsuccess = () => {
        clearTimeout(timer)
        resolve(new Database(request.result))
      }
    })
  }

  /** Reads in one transaction. @param {(transaction: Transaction) => Promise} body It awaits only the transaction. */
  read(stores, body) { return this.#run(stores, "readonly", body) }

  /** Writes in one transaction. When this returns, everything is on disk; when it throws, nothing is written. */
  write(stores, body) { return this.#run(stores, "readwrite", body) }

  /** A value of `meta`. */
  meta(key) { return this.read(["meta"], transaction => transaction.get("meta", key)) }

  /** Sets a value of `meta`; undefined removes it. */
  setMeta(key, value) {
    return this.write(["meta"], transaction => transaction.setMeta(key, value))
  }

  close() { this.#handle.close() }

  async #run(stores, mode, body) {
    let inner
    try {
      inner = this.#handle.transaction(stores, mode, { durability: mode === "readwrite" ? "strict" : "default" })
    } catch {
      throw new OfflineError("storage_newer", "The page has been updated, or closed: reload.")
    }
    const done = new Promise((resolve, reject) => {
      inner.oncomplete = () => resolve()
      inner.onabort = () => reject(inner.error ?? new Error("aborted"))
    })
    let value
    try {
      value = await body(new Transaction(inner))
    } catch (error) {
      try {
        inner.abort()
      } catch {
        // It has ended by itself.
      }
      await done.catch(() => {})
      throw told(error)
    }
    await done.catch(error => { throw told(error) })
    return value
  }
}

/** The operations in a transaction. */
class Transaction {
  #inner
  constructor(inner) { this.#inner = inner }
  get(store, key) { return this.#ask(store, it => it.get(key)) }
  all(store, range) { return this.#ask(store, it => it.getAll(range)) }
  put(store, value, key) { return this.#ask(store, it => key === undefined ? it.put(value) : it.put(value, key)) }
  delete(store, key) { return this.#ask(store, it => it.delete(key)) }
  clear(store) { return this.#ask(store, it => it.clear()) }
  setMeta(key, value) { return value === undefined ? this.delete("meta", key) : this.put("meta", value, key) }

  #ask(store, request) {
    return new Promise((resolve, reject) => {
      const asked = request(this.#inner.objectStore(store))
      asked.onsuccess = () => resolve(asked.result)
      asked.onerror = () => reject(asked.error)
    })
  }
}

/** The range of all keys whose first element is this place or list. */
export const below = first => IDBKeyRange.bound([first], [first, []])

function upgrade(handle) {
  for (const [store, options] of Object.entries(schema)) {
    if (!handle.objectStoreNames.contains(store)) handle.createObjectStore(store, options)
  }
}

function told(error) {
  if (error instanceof OfflineError) return error
  if (error?.name === "QuotaExceededError") return new OfflineError("storage_full", "The browser has no room left.")
  return error instanceof DOMException ? new OfflineError("storage_failed", `Storing failed: ${error.message}`) : error
}
