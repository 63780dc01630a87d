import { actions, isShown } from "./actions.js"
import { below } from "./database.js"
import { OfflineError } from "./error.js"
import { find } from "./find.js"
import { photoPath, readPhoto } from "./photos.js"
import { placesURL, usePlaces } from "./places.js"
import { randomID } from "./server.js"

/** How many hotels of the last searches are kept, and how many more come before the oldest are removed. */
const mostFound = 500, slack = 100

/** The reads: the copy as the server confirmed it, with the changes of the outbox applied to it. */
export class View {
  #database
  /** The local id (`new-…`) of a list that was made offline, by its id on the server. */
  aliases = {}
  constructor(database) { this.#database = database }

  /**
   * Everything of a place: `{name, lists, bookmarks, notes, drafts, entries, isComplete}`; `lists`, `bookmarks` and
   * `notes` are maps. The same transaction translates the local id of a delivered list to its id on the server.
   */
  async place(list = "own") {
    const stores = ["meta", "lists", "orders", "bookmarks", "notes", "drafts", "outbox"]
    return this.#database.read(stores, async transaction => {
      const name = (await transaction.get("meta", "aliases"))?.[list] ?? list
      if (name !== list) this.aliases[name] = list
      const [session, lists, order, bookmarks, notes, drafts, entries] = await Promise.all([
        transaction.get("meta", "session"), transaction.all("lists"), transaction.get("orders", name),
        transaction.all("bookmarks", below(name)), transaction.all("notes", below(name)),
        transaction.all("drafts", below(name)), transaction.all("outbox")
      ])
      const byID = new Map(bookmarks.map(bookmark => [bookmark.id, bookmark]))
      const known = (order?.ids ?? []).filter(id => byID.has(id))
      const state = {
        name, username: session?.username, displayName: session?.displayName, isComplete: order !== undefined, entries,
        lists: new Map(lists.map(list => [list.id, { role: "reader", ...list }])),
        bookmarks: new Map(known.map(id => [id, byID.get(id)])),
        notes: new Map(notes.map(note => [note.title, note])), drafts
      }
      const ofLists = ["makeList", "changeList", "endList", "leaveList", "setMember", "removeMember"]
      for (const entry of entries.filter(isShown)) {
        if (ofLists.includes(entry.action) || (entry.list ?? "own") === name) actions[entry.action].show?.(state, entry)
      }
      return state
    })
  }

  /** @returns {Promise<object[]>} */
  async bookmarks(list) {
    return [...(await this.place(list)).bookmarks.values()].map(({ place: _, ...bookmark }) => bookmark)
  }

  /** @returns {Promise<object[]>} The last changed list first. */
  async lists() {
    return [...(await this.place()).lists.values()].sort((one, other) => other.updatedAt < one.updatedAt ? -1 : 1)
  }

  /** @throws {OfflineError} `not_stored` */
  async list(id) {
    const { name, lists } = await this.place(id), found = lists.get(name)
    if (!found) throw new OfflineError("not_stored", "There is no such list, or you are not on it.", { status: 404 })
    return found
  }

  /** @returns {Promise<object[]>} In the order of their titles. */
  async notes(list) {
    const notes = [...(await this.place(list)).notes.values()].map(({ list: _, ...note }) => note)
    return notes.sort((one, other) => one.title < other.title ? -1 : 1)
  }

  /** @returns {Promise<object[]>} */
  async drafts(list) {
    return (await this.place(list)).drafts.map(({ list: _, subject: __, ...draft }) => draft)
  }

  /** Keeps the hotels of an answer, so that the person whose session it is finds them without a network, too. */
  keepFound(hotels) {
    return this.#database.write(["meta", "found"], async transaction => {
      if (!await transaction.get("meta", "session")) return
      for (const { bookmarked: _, ...hotel } of hotels) await transaction.put("found", { hotel, at: Date.now() })
      const all = await transaction.all("found")
      if (all.length <= mostFound + slack) return
      all.sort((one, other) => other.at - one.at)
      for (const { hotel } of all.slice(mostFound)) await transaction.delete("found", hotel.id)
    })
  }

  /** Uses the names of places that are kept. Another version's may have another form, and are fetched anew. */
  async usePlaces() {
    const { url, lines } = await this.#database.meta("places") ?? {}
    if (url === placesURL()) usePlaces(lines ?? "")
    else if (url) this.keepPlaces().catch(() => {})
  }

  /** Keeps the names of places of the server's present version, for searches without a network. */
  async keepPlaces() {
    const url = placesURL()
    if (!url || (await this.#database.meta("places"))?.url === url) return
    const answer = await fetch(url), lines = await answer.text()
    if (!answer.ok || !lines.startsWith("f|")) return
    await this.#database.write(["meta"], async transaction => {
      if (await transaction.get("meta", "session")) await transaction.setMeta("places", { url, lines })
    })
    usePlaces(lines)
  }

  /** The hotels that are here, by id: own bookmarks, then those of lists, then those of the last searches. */
  async #hotels() {
    const own = [...(await this.place()).bookmarks.values()]
    const [all, found] = await this.#database.read(["bookmarks", "found"], transaction =>
      Promise.all([transaction.all("bookmarks"), transaction.all("found")]))
    found.sort((one, other) => other.at - one.at)
    const hotels = new Map()
    for (const { id, hotel } of [...own, ...all.filter(it => it.place !== "own"), ...found]) {
      if (!hotels.has(id ?? hotel.id)) hotels.set(id ?? hotel.id, { ...hotel, id: id ?? hotel.id })
    }
    return hotels
  }

  /** One bookmark. @throws {OfflineError} `not_stored` */
  async bookmark(id, list) {
    const found = (await this.place(list)).bookmarks.get(id)
    if (!found) throw new OfflineError("not_stored", "This hotel is not bookmarked.")
    return found
  }

  /** The bytes of a photo. */
  async photo(id, photo, list) {
    const place = list && (await this.place(list)).name
    return readPhoto(this.#database, photoPath({ list: place, subject: id, name: photo.name }), photo)
  }

  /** A change of a photo. A new photo has by default another name each time. @throws {OfflineError} `not_stored` */
  async photoChange(action, id, { type, size }, { list, name = `${randomID().slice(0, 12)}.${type.split("/")[1] || "jpeg"}` } = {}) {
    const { hotel } = await this.bookmark(id, list)
    return { action, subject: id, label: hotel.name ?? id, list, name, type, size }
  }

  /** A hotel that is here; undefined for any other. */
  async hotel(id) { return (await this.#hotels()).get(id) }

  /** Searches the copy. */
  async search({ limit = 20, offset = 0, ...query }) {
    const { hotels: found, matched } = find([...(await this.#hotels()).values()], query)
    const end = Number(offset) + Number(limit)
    return { total: found.length, matched, hotels: found.slice(offset, end), next: end < found.length ? end : undefined }
  }
}
