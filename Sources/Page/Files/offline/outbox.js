import { actions, fields, follows, isShown } from "./actions.js"
import { OfflineError } from "./error.js"
import { call, isReachable, randomID, segment } from "./server.js"

/** The number of delivered entries that are kept, so that the user can see and undo them. */
const kept = 20

/**
 * The changes that the server does not have yet. An entry and its `Idempotency-Key` are stored first; then the leading
 * tab sends it. If the browser is killed meanwhile, it sends the entry again with the same key, and the server does the
 * work only once.
 */
export class Outbox {
  #database; #backoff; #pull; #told; #pausedUntil = 0

  /**
   * @param {object} parts `backoff`: see `open`. `pull(part)` fetches a part of the copy. `told(entry)` is called with
   *   each entry that the server refuses.
   */
  constructor(parts) {
    ({ database: this.#database, backoff: this.#backoff = [1000, 4000, 16000], pull: this.#pull, told: this.#told } = parts)
  }

  /** All entries, oldest first. */
  entries() { return this.#database.read(["outbox"], transaction => transaction.all("outbox")) }

  /**
   * Adds a change. A further text of a note replaces the text of the note's last change, if that was not sent yet. A photo
   * that was not sent yet is dropped by its removal.
   * @param {Blob} [blob] The bytes of a photo.
   */
  async add(change, blob) {
    return this.#database.write(["outbox", "meta", "photos"], async transaction => {
      const aliases = await transaction.get("meta", "aliases")
      const entry = {
        ...change, list: aliases?.[change.list] ?? change.list, key: randomID(), state: "pending", attempts: 0,
        failures: 0, createdAt: new Date().toISOString()
      }
      entry.target = actions[entry.action].target(entry)
      const isUnsent = other => other?.state === "pending" && !other.attempts
      if (blob) {
        entry.file = randomID()
        await transaction.put("photos", { key: entry.file, blob })
      }
      const last = (await transaction.all("outbox")).filter(other => other.target === entry.target).at(-1)
      if (entry.action === "deletePhoto" && last?.action === "putPhoto" && isUnsent(last)) {
        await removeEntry(transaction, last)
        return last
      }
      // A text that was begun before the last one, as in another tab, has a base of its own: the server puts both together.
      const isLater = entry.after === undefined || entry.after === last?.id
      if (isLater && entry.action === "putNote" && isUnsent(last)
        && last.action === "putNote" && last.draft === entry.draft) {
        const merged = { ...last, body: entry.body }
        await transaction.put("outbox", merged)
        return merged
      }
      // A change on top of an undelivered change of the same note has the same base; delivery of the first updates it.
      if (isLater && last?.action === "putNote" && last.base !== undefined && !entry.draft === !last.draft && isShown(last)) entry.base = last.base
      entry.id = await transaction.put("outbox", entry)
      return entry
    })
  }

  /**
   * Sends an entry again with the same key, so that the server does not repeat work that it has done. A note or draft that
   * was not removed because somebody has changed it is now removed all the same.
   */
  sendAgain(id) {
    return this.#edit(id, entry => ({ ...entry, ...fresh, ...(/deleteNote|discard/.test(entry.action) && /^(conflict|pre)/.test(entry.error) && { base: undefined, key: randomID() }) }))
  }

  /** Replaces an entry's body and sends it with a new key. The base of a note becomes the server's present revision. */
  change(id, body) {
    return this.#edit(id, entry => ({
      ...entry, ...fresh, body, attempts: 0, key: randomID(), theirs: undefined,
      base: entry.theirs === undefined ? entry.base : entry.theirs?.rev
    }))
  }

  /** Deletes an entry. For a list that was not made yet, it also deletes all entries of that list. */
  drop(id) {
    return this.#database.write(["outbox", "photos"], async transaction => {
      const entry = settled(await transaction.get("outbox", id))
      await removeEntry(transaction, entry)
      if (entry.action !== "makeList" || entry.state === "delivered") return entry
      for (const other of await transaction.all("outbox")) {
        if (other.list === entry.list) await removeEntry(transaction, other)
      }
      return entry
    })
  }

  /** Undoes the removal of a bookmark: drops the entry if it was not sent yet, or else adds an entry that undoes it. */
  async undo(id) {
    const entry = (await this.entries()).find(other => other.id === id)
    if (!entry?.undoable) throw new OfflineError("not_stored", "This can't be undone any more.")
    const { subject, list, label, former } = entry
    if (entry.state === "pending" && !entry.attempts) return this.drop(id)
    // It is on its way: it is bookmarked again, with the user's own words.
    if (!entry.undo) return this.add({ action: "bookmark", subject, list, label, hotel: former.hotel, body: former.hotel })
    await this.#edit(id, it => ({ ...it, undoable: false }), true)
    return this.add({ action: "undo", subject, list, label, former, body: entry.undo })
  }

  /**
   * Makes all entries due now: those that are parked, that another tab sent before it was closed or killed, and that wait for
   * their next attempt. The clock by which they wait may have been wrong.
   */
  recover() {
    return this.#database.write(["outbox"], async transaction => {
      for (const entry of await transaction.all("outbox")) {
        if (/transit|parked|pending/.test(entry.state)) await transaction.put("outbox", { ...entry, ...fresh })
      }
    })
  }

  /**
   * Sends all entries that are due. @param {() => void} step It is called after each change of an entry.
   * @returns {Promise<number|undefined>} When the next entry is due, in milliseconds since 1970.
   * @throws {OfflineError} `offline`, or the session has ended; the entries stay.
   */
  async send(step) {
    for (;;) {
      const entry = Date.now() < this.#pausedUntil ? undefined : await this.#take()
      if (!entry) break
      step()
      try { await this.#attempt(entry) } finally { step() }
    }
    const times = (await this.entries()).filter(it => it.state === "pending" && it.nextAttemptAt)
      .map(it => Date.parse(it.nextAttemptAt))
    return times.length ? Math.max(this.#pausedUntil, Math.min(...times)) : undefined
  }

  /** Marks the next entry as `transit`: it is due and need not wait for an earlier one. */
  #take() {
    return this.#database.write(["outbox"], async transaction => {
      const waiting = []
      for (const entry of await transaction.all("outbox")) {
        if (!isShown(entry)) continue
        const isDue = entry.state === "pending" && !(Date.parse(entry.nextAttemptAt) > Date.now())
        if (isDue && !waiting.some(earlier => follows(entry, earlier))) {
          const taken = { ...entry, state: "transit", attempts: entry.attempts + 1, nextAttemptAt: undefined }
          await transaction.put("outbox", taken)
          return taken
        }
        waiting.push(entry)
      }
    })
  }

  async #attempt(entry) {
    const action = actions[entry.action]
    const [method, path] = action.request(entry)
    let answer = null
    let isKept = true
    try {
      answer = (await call(method, path, { body: entry.body, headers: fields(entry), ...await this.#photo(entry) })).body
    } catch (error) {
      if (error.code === "answer_gone") {
        // An earlier attempt arrived, and the server does not keep its answer any more. What is there now replaces it.
        if (method !== "DELETE") {
          try { answer = (await call("GET", action.present?.(entry) ?? error.problem?.location ?? path)).body } catch (other) {
            if (other.isOffline || other.mayPass) return this.#failed(entry, other)
            isKept = false
          }
        }
      } else if (!(await isDone(entry, method, error))) return this.#failed(entry, error)
    }
    // Fetch first: otherwise reads return the former state between delivery and the next pull.
    for (const part of action.pull?.(entry) ?? []) await this.#pull(part).catch(() => {})
    const stores = ["outbox", "meta", "lists", "orders", "bookmarks", "notes", "drafts", "photos"]
    await this.#database.write(stores, async transaction => {
      const delivered = { ...entry, state: "delivered", reason: undefined, error: undefined, status: 200 }
      if (delivered.action === "unbookmark") delivered.undoable = false
      if (isKept) await action.keep?.(transaction, delivered, answer)
      await transaction.put("outbox", delivered)
      const old = (await transaction.all("outbox")).filter(other => other.state === "delivered").slice(0, -kept)
      for (const other of old) await transaction.delete("outbox", other.id)
    })
  }

  /** The bytes of a photo as a body, and the time limit for them; nothing for any other entry. */
  async #photo({ file }) {
    if (!file) return {}
    const kept = await this.#database.read(["photos"], transaction => transaction.get("photos", file))
    return { file: kept?.blob ?? new Blob(), timeout: 600_000 }
  }

  async #failed(entry, error) {
    const said = { status: error.status, error: error.code, reason: error.reason ?? String(error) }
    const put = change => this.#database.write(["outbox"], transaction => transaction.put("outbox", { ...entry, ...change }))
    if (error.isSessionEnd || (error.isOffline && !(await isReachable()))) {
      await put({ state: "pending" })
      throw error
    }
    if (error.mayPass) {
      const failures = entry.failures + 1
      if (failures > this.#backoff.length) return put({ ...said, failures, state: "parked" })
      const next = Date.now() + Math.max(this.#backoff[failures - 1], error.retryAfter ?? 0)
      if (error.status === 429) this.#pausedUntil = next
      return put({ ...said, failures, state: "pending", nextAttemptAt: new Date(next).toISOString() })
    }
    const next = await actions[entry.action][{ 404: "supply", 412: "join" }[error.status]]?.(entry).catch(other => other.isOffline ? {} : undefined)
    if (next) return put({ ...next, key: randomID(), state: "pending", attempts: 0 })
    const rejected = [{ ...entry, ...said, state: "rejected", theirs: theirs(error), was: error.problem?.base ?? "" }]
    await this.#database.write(["outbox"], async transaction => {
      if (entry.action === "makeList") {
        const others = (await transaction.all("outbox")).filter(other => other.list === entry.list && other.id !== entry.id)
        const reason = `The list was not made: ${said.reason}`
        rejected.push(...others.map(other => ({ ...other, state: "rejected", reason })))
      }
      for (const entry of rejected) await transaction.put("outbox", entry)
    })
    rejected.forEach(entry => this.#told(entry))
  }

  #edit(id, change, isAny = false) {
    return this.#database.write(["outbox"], async transaction => {
      const known = await transaction.get("outbox", id)
      const entry = change(isAny ? known : settled(known))
      await transaction.put("outbox", entry)
      return entry
    })
  }
}

async function removeEntry(transaction, { id, file }) {
  await transaction.delete("outbox", id)
  if (file) await transaction.delete("photos", file)
}

/** The members of an entry that starts its attempts again. */
const fresh = {
  state: "pending", failures: 0, nextAttemptAt: undefined, status: undefined, error: undefined, reason: undefined
}

function settled(entry) {
  if (!entry) throw new OfflineError("not_stored", "There is no such change any more.")
  if (entry.state === "transit") throw new OfflineError("in_transit", "The change is being sent just now.")
  return entry
}

/** Whether the server answered 404 because the subject of a removal is gone already. */
async function isDone(entry, method, error) {
  if (error.status !== 404 || method !== "DELETE") return false
  if (["endList", "leaveList", "deletePhoto"].includes(entry.action)) return true
  return call("GET", `/v1/lists/${segment(entry.list)}`).then(() => true, () => false)
}

/** The server's present note in a conflict, null if there is none, undefined if the error is not a conflict. */
function theirs({ problem }) {
  if (problem?.theirs === undefined) return undefined
  const { theirs: markdown, theirsRev: rev } = problem
  return markdown === null ? null : { markdown, rev }
}
