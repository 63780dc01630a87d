import { forget } from "./actions.js"
import { below } from "./database.js"
import { call, segment } from "./server.js"

/**
 * Updates the local copy in parts: `own`, `lists`, and for each list `ID/list`, `ID/bookmarks`, `ID/notes` and
 * `ID/drafts`. Each page of the mirror and each part of a list is written in one transaction, so that a kill leaves
 * the state before or after it.
 */
export class Copy {
  #database
  constructor(database) { this.#database = database }

  /**
   * Fetches a part.
   * @returns {Promise<string[]>} Further parts to fetch.
   * @throws {import("./error.js").OfflineError}
   */
  async pull(part) {
    if (part === "own") return this.#pullOwn()
    if (part === "lists") return this.#pullLists()
    const [list, what] = part.split("/")
    if (list.startsWith("new-")) return []
    try {
      await this.#pullOfList(list, what)
    } catch (error) {
      if (error.status !== 404) throw error
      await this.forget(list)
    }
    return []
  }

  /** Removes a list of which the user is no longer a member. */
  forget(list) {
    const stores = ["lists", "orders", "bookmarks", "notes", "drafts"]
    return this.#database.write(stores, transaction => forget(transaction, list))
  }

  /** All parts of a list. */
  static parts = list => ["list", "bookmarks", "notes", "drafts"].map(what => `${list}/${what}`)

  /** Fetches the mirror; see the book's page *Mirror*. */
  async #pullOwn() {
    const order = await this.#database.read(["orders"], transaction => transaction.get("orders", "own"))
    let token = order?.token
    for (;;) {
      let page
      try {
        page = (await call("GET", "/v1/mirror" + (token ? `?since=${segment(token)}` : ""))).body
      } catch (error) {
        // The store was created again or restored from a backup, or the token is another account's: start without one.
        if (!token || ![400, 410].includes(error.status) || error.isSessionEnd) throw error
        token = undefined
        continue
      }
      await this.#database.write(["orders", "bookmarks"], transaction => applyPage(transaction, page))
      token = page.token
      if (!page.more) return []
    }
  }

  async #pullLists() {
    const damaged = [], lists = await pages("/v1/lists?limit=50", "lists", damaged)
    const gone = await this.#database.write(["lists"], async transaction => {
      const before = await transaction.all("lists")
      await transaction.clear("lists")
      // Of a list that the server can't read, this may be the last copy.
      const kept = before.filter(old => damaged.includes(old.id))
      for (const list of [...kept, ...lists]) await transaction.put("lists", list)
      return before.filter(old => ![...kept, ...lists].some(list => list.id === old.id))
    })
    for (const list of gone) await this.forget(list.id)
    return lists.flatMap(list => Copy.parts(list.id).slice(1))
  }

  async #pullOfList(list, what) {
    const root = `/v1/lists/${segment(list)}`
    if (what === "list") {
      const { body } = await call("GET", root)
      return this.#database.write(["lists"], transaction => transaction.put("lists", body))
    }
    if (what === "bookmarks") {
      const bookmarks = await pages(`${root}/bookmarks?limit=100`, "bookmarks")
      return this.#replace("bookmarks", list, bookmarks.map(it => ({ ...it, place: list })), transaction =>
        transaction.put("orders", { place: list, ids: bookmarks.map(it => it.id) }))
    }
    if (what === "notes") {
      const notes = await pages(`${root}/notes?limit=50`, "notes")
      return this.#replace("notes", list, notes.map(it => ({ ...it, list })))
    }
    const { body } = await call("GET", `${root}/drafts`)
    return this.#replace("drafts", list, body.drafts.map(it => ({ ...it, list, subject: it.id ?? it.title })))
  }

  #replace(store, list, items, more = () => {}) {
    return this.#database.write([store, "orders"], async transaction => {
      await transaction.delete(store, below(list))
      for (const item of items) await transaction.put(store, item)
      await more(transaction)
    })
  }
}

async function applyPage(transaction, page) {
  let order = await transaction.get("orders", "own") ?? { place: "own", ids: [] }
  if (page.reset) {
    await transaction.delete("bookmarks", below("own"))
    order = { place: "own", ids: [] }
  }
  for (const hotel of page.hotels) await transaction.put("bookmarks", { ...hotel, place: "own" })
  for (const { id } of page.removed) await transaction.delete("bookmarks", ["own", id])
  await transaction.put("orders", { place: "own", ids: page.order ?? order.ids, token: page.token })
}

/** The items of all pages. The ids of those that the server can't read are added to `damaged`. */
async function pages(path, member, damaged) {
  const items = []
  for (let after = ""; ;) {
    const { body } = await call("GET", path + after)
    items.push(...body[member])
    damaged?.push(...body.damaged ?? [])
    if (body.next === undefined) return items
    after = `&after=${segment(body.next)}`
  }
}
