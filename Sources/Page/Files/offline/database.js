import { OfflineError } from "./error.js"

/**
 * This browser's copy. Object stores:
 * - `meta`: `session`, `feed` (where the stream of changes stands), `mode`, `lastSync`, `aliases`, `leader`, `ending`
 * - `bookmarks`: as confirmed by the server, by `[place, id]`; a place is `own` or a list's id
 * - `orders`: by place: `ids`, newest first, and of `own` the mirror's `token`
 * - `lists`, `notes`, `drafts`: as confirmed
 * - `outbox`: changes of this browser's, in order
 */
const name = "hotel-bookmarks"
/** The schema's version: a higher one needs a step in `upgrade`. */
const version = 1
/** For how long to wait for other tabs with an older version, in milliseconds. */
const patience = 4000

const schema = {
  meta: {}, orders: { keyPath: "place" }, bookmarks: { keyPath: ["place", "id"] },
  lists: { keyPath: "id" }, notes: { keyPath: ["list", "title"] }, drafts: { keyPath: ["list", "kind", "subject"] },
  outbox: { keyPath: "id", autoIncrement: true }
}

/** Names of all object stores. */
export const everything = Object.keys(schema)

/** IndexedDB with promises and this module's errors. */
export class Database {
  #handle

  constructor(handle) {
    this.#handle = handle
    // A newer version of the page waits for this one to let go.
    handle.onversionchange = () => handle.close()
  }

  /** @throws {OfflineError} `storage_unavailable`, `storage_blocked`, `storage_newer`, `storage_full`. */
  static open() {
    return new Promise((resolve, reject) => {
      const fail = (code, reason) => reject(new OfflineError(code, reason))
      const unavailable = "This browser keeps no data for this page, as in some private windows."
      let request
      try { request = indexedDB.open(name, version) } catch { return fail("storage_unavailable", unavailable) }
      const timer = setTimeout(
        () => fail("storage_blocked", "Another tab with an older version of this page is open: close it."), patience)
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

  /** Reads within one transaction. @param {(transaction: Transaction) => Promise} body waits for nothing else. */
  read(stores, body) { return this.#run(stores, "readonly", body) }

  /** Writes within one transaction: all of it is on the disk when this returns, or nothing. */
  write(stores, body) { return this.#run(stores, "readwrite", body) }

  /** A value of `meta`. */
  meta(key) { return this.read(["meta"], transaction => transaction.get("meta", key)) }

  /** Sets a value of `meta`; undefined removes it. */
  setMeta(key, value) {
    return this.write(["meta"], transaction => transaction.setMeta(key, value))
  }

  /** Lets go of it. */
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
      try { inner.abort() } catch { /* It has ended by itself. */ }
      await done.catch(() => {})
      throw told(error)
    }
    await done.catch(error => { throw told(error) })
    return value
  }
}

/** What may be done within a transaction. */
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

/** All keys that begin with a place or list. */
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
