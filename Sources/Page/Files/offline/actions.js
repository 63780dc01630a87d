import { below } from "./database.js"
import { keepPhotos, photoPath, showPhotos } from "./photos.js"
import { call, segment } from "./server.js"

/**
 * All kinds of changes: the request of each, how it changes the results of reads while it waits, and how the answer
 * changes the copy. Entries have only the name, `action`, because entries outlive the page that made them.
 *
 * @typedef {object} Action
 * @property {(entry) => string} target Changes of one target, and of targets below it, are sent in order.
 * @property {(entry) => [string, string]} request Method and path.
 * @property {(state, entry) => void} [show] Applies the change to what `View.place` returns.
 * @property {(transaction, entry, answer) => Promise} [keep] Applies the server's answer to the copy.
 * @property {(entry) => string[]} [pull] The parts of the copy to fetch before the entry is
 *   `delivered`.
 * @property {(entry) => string} [present] The path of what is there now, if the answer to a request is not kept.
 * @property {(entry) => Promise<object>} [join] After 412: what the entry becomes when it is joined with what another
 *   device has written meanwhile.
 * @property {(entry) => Promise<object>} [supply] After 404: what it becomes with what the server does not know.
 */

const place = entry => entry.list ?? "own"
const root = entry => entry.list ? `/v1/lists/${segment(entry.list)}` : "/v1"
/** The server puts a change together with what others, or other devices, have written since its base. */
const based = ({ draft, base }) => "?" + (draft ? "draft=true&" : "") + (base === undefined ? "" : `base=${base ?? "none"}`)
/** The target of a change of a bookmark, a note or a member: `kind` is its plural. */
const targetOf = kind => entry => `${place(entry)}/${kind}/${entry.subject}`
/** The path of the same. */
const pathOf = (entry, kind, rest = "") => `${root(entry)}/${kind}/${segment(entry.subject)}${rest}`
/**
 * Changes of the same target that wait and were not sent yet build on the revision that was just written. A draft's
 * revision is a base of drafts only.
 */
async function rebase(transaction, entry, change) {
  for (const other of await transaction.all("outbox")) {
    if (other.target !== entry.target || other.id <= entry.id || other.attempts > 0 || other.base !== entry.base || entry.draft && !other.draft) continue
    if (other.after !== undefined && other.after !== entry.id) continue
    await transaction.put("outbox", { ...other, ...change(other) })
  }
}

/** Whether a text has all lines of another one, each as often. */
function includes(text, other) {
  const counts = new Map()
  for (const line of text.split("\n")) counts.set(line, (counts.get(line) ?? 0) + 1)
  return other.split("\n").every(line => {
    const count = counts.get(line) ?? 0
    counts.set(line, count - 1)
    return count > 0
  })
}

/** A hotel with the user's own words. Empty ones are left out. */
export function annotated(hotel, { note, tags }) {
  const { myNote, myTags, ...said } = hotel
  return { ...said, ...(note && { myNote: note }), ...(tags.length && { myTags: tags }) }
}

/** The user's own words on a hotel. Other apps may have written members of any type. */
export const annotation = ({ myNote, myTags }) => ({
  note: typeof myNote === "string" ? myNote : "",
  tags: (Array.isArray(myTags) ? myTags : []).filter(tag => typeof tag === "string" && tag.trim())
})

/** Joins the words of two devices that began with the same: nothing that one of them has added is lost. */
export function joined(before, theirs, mine) {
  const note = theirs.note === before.note || theirs.note === mine.note ? mine.note
    : mine.note === before.note ? theirs.note : [theirs.note, mine.note].filter(Boolean).join("\n")
  const kept = theirs.tags.filter(tag => mine.tags.includes(tag) || !before.tags.includes(tag))
  return { note, tags: [...new Set([...kept, ...mine.tags.filter(tag => !before.tags.includes(tag))])] }
}

/** The members that are told of a hotel that the server does not know. */
const knownHere = "name title address city state country geo lat lon description amenities phone url price currency".split(" ")

const without = (photos, name) => photos.filter(photo => photo.name !== name)
const ofPhoto = entry => `${targetOf("bookmarks")(entry)}/photos/${entry.name}`
const content = entry => entry.list ? [`${entry.list}/bookmarks`, `${entry.list}/notes`, `${entry.list}/drafts`] : ["own"]

/** Changes a list as reads return it. */
function showList(state, { list }, change) {
  const known = state.lists.get(list)
  if (known) state.lists.set(list, { ...known, ...change(known) })
}

/** What the two ends of a list have in common, and those of a draft. */
const endOfList = {
  target: entry => entry.list,
  show(state, entry) { state.lists.delete(entry.list) },
  keep: (transaction, entry) => forget(transaction, entry.list)
}
const endOfDraft = {
  target: entry => targetOf(entry.kind + "s")(entry),
  show(state, entry) {
    state.drafts = state.drafts.filter(it => it.kind !== entry.kind || it.subject !== entry.subject)
  },
  pull: content
}

/** @type {Object<string, Action>} */
export const actions = {
  bookmark: {
    target: targetOf("bookmarks"),
    request: entry => ["PUT", pathOf(entry, "bookmarks", entry.draft ? based(entry) : "")],
    show(state, entry) {
      const known = state.bookmarks.get(entry.subject)
      const bookmark = {
        id: entry.subject, bookmarkedAt: entry.createdAt, hotel: entry.hotel, ...known, pending: true
      }
      if (entry.body) bookmark.hotel = { ...entry.body, id: entry.subject }
      if (entry.draft) bookmark.draft = true
      state.bookmarks.delete(entry.subject)
      state.bookmarks = known
        ? state.bookmarks.set(entry.subject, bookmark)
        : new Map([[entry.subject, bookmark], ...state.bookmarks])
    },
    async keep(transaction, entry, answer) {
      const order = await transaction.get("orders", place(entry)) ?? { place: place(entry), ids: [] }
      const bookmark = { ...answer, place: place(entry) }
      if (entry.draft) bookmark.draft = true
      await transaction.put("bookmarks", bookmark)
      if (!entry.draft) await rebase(transaction, entry, other => other.action === "annotate" ? { base: answer.rev } : {})
      if (order.ids.includes(entry.subject)) return
      await transaction.put("orders", { ...order, ids: [entry.subject, ...order.ids] })
    },
    // A bookmark of a hotel that is not in the catalogue, or not any more. What else apps keep in it may be the user's own,
    // and is for no list.
    supply: async ({ body, list, hotel }) => list && !body && { body: JSON.parse(JSON.stringify(hotel, knownHere)) }
  },

  annotate: {
    target: targetOf("bookmarks"),
    request: entry => ["PUT", pathOf(entry, "bookmarks")],
    show(state, entry) {
      const known = state.bookmarks.get(entry.subject)
      if (known) state.bookmarks.set(entry.subject, { ...known, hotel: annotated(known.hotel, annotation(entry.body)), pending: true })
    },
    async keep(transaction, entry, answer) {
      await transaction.put("bookmarks", { ...answer, place: place(entry) })
      await rebase(transaction, entry, () => ({ base: answer.rev }))
    },
    async join(entry) {
      const { body: present } = await call("GET", this.request(entry)[1]).catch(error => {
        if (error.status === 404) return {}
        throw error
      })
      // Another device has removed the bookmark. It comes back: nobody else has these words.
      if (!present) return { base: undefined }
      const words = joined(entry.former, annotation(present.hotel), annotation(entry.body))
      return { base: present.rev, former: annotation(present.hotel), body: annotated(present.hotel, words) }
    }
  },

  unbookmark: {
    target: targetOf("bookmarks"),
    // A batch, because its answer says how to undo it, and because a batch ignores a bookmark that is gone already.
    request: entry => entry.draft
      ? ["DELETE", pathOf(entry, "bookmarks", based(entry))] : ["POST", `${root(entry)}/bookmarks`],
    show(state, entry) { state.bookmarks.delete(entry.subject) },
    async keep(transaction, entry, answer) {
      await transaction.delete("bookmarks", [place(entry), entry.subject])
      if (answer?.undo?.restore?.length) {
        entry.undo = answer.undo
        entry.undoable = true
      }
    }
  },

  putPhoto: {
    target: ofPhoto,
    request: entry => ["PUT", photoPath(entry)],
    present: entry => pathOf(entry, "bookmarks"),
    show(state, entry) {
      const { name, type, size, file, id } = entry
      showPhotos(state.bookmarks, entry, photos => [...without(photos, name), { name, type, size, file, entry: id, pending: true }])
    },
    async keep(transaction, entry, { photos, rev, ...photo }) {
      photo = photos?.find(it => it.name === entry.name) ?? photo
      const { blob } = await transaction.get("photos", entry.file) ?? {}
      await transaction.delete("photos", entry.file)
      if (blob) await transaction.put("photos", { key: photo.digest, blob, at: Date.now() })
      await keepPhotos(transaction, entry, photos => [...without(photos, photo.name), photo], rev)
    }
  },

  deletePhoto: {
    target: ofPhoto,
    request: entry => ["DELETE", photoPath(entry)],
    show(state, entry) { showPhotos(state.bookmarks, entry, photos => without(photos, entry.name)) },
    keep: (transaction, entry) => keepPhotos(transaction, entry, photos => without(photos, entry.name))
  },

  undo: {
    target: targetOf("bookmarks"),
    request: entry => ["POST", `${root(entry)}/bookmarks`],
    show(state, entry) {
      if (entry.former && !state.bookmarks.has(entry.subject)) {
        state.bookmarks.set(entry.subject, { ...entry.former, pending: true })
      }
    },
    pull: content
  },

  restore: {
    target: targetOf("bookmarks"),
    request: entry => ["POST", pathOf(entry, "documents", "/restore")],
    pull: content
  },

  makeList: {
    target: entry => entry.list,
    request: () => ["POST", "/v1/lists"],
    show(state, entry) {
      state.lists.set(entry.list, {
        id: entry.list, markdown: "", ...entry.body, owner: state.username ?? "", role: "owner",
        members: [{ username: state.username ?? "", displayName: state.displayName, role: "owner", joinedAt: entry.createdAt }],
        createdAt: entry.createdAt, updatedAt: entry.createdAt, pending: true
      })
    },
    async keep(transaction, entry, answer) {
      await transaction.put("lists", answer)
      const aliases = await transaction.get("meta", "aliases") ?? {}
      await transaction.setMeta("aliases", { ...aliases, [entry.list]: answer.id })
      for (const other of await transaction.all("outbox")) {
        if (other.list !== entry.list || other.id === entry.id) continue
        other.list = answer.id
        other.target = actions[other.action].target(other)
        await transaction.put("outbox", other)
      }
      entry.list = answer.id
    }
  },

  changeList: {
    target: entry => `${entry.list}/list`,
    request: entry => ["PATCH", root(entry)],
    show(state, entry) { showList(state, entry, () => ({ ...entry.body, pending: true })) },
    // An offer, of which an older page kept the request, is no list.
    keep: (transaction, entry, answer) => answer.members && transaction.put("lists", answer)
  },

  endList: { ...endOfList, request: entry => ["DELETE", root(entry)] },

  leaveList: { ...endOfList, request: entry => ["DELETE", pathOf(entry, "members")] },

  setMember: {
    target: targetOf("members"),
    request: entry => ["PUT", pathOf(entry, "members")],
    show(state, entry) {
      const member = { username: entry.subject, joinedAt: entry.createdAt, ...entry.body, pending: true }
      showList(state, entry, ({ members }) => {
        const at = members.findIndex(other => other.username === entry.subject)
        return { members: at < 0 ? [...members, member] : members.with(at, { ...members[at], ...member }) }
      })
    },
    pull: entry => [`${entry.list}/list`]
  },

  removeMember: {
    target: targetOf("members"),
    request: entry => ["DELETE", pathOf(entry, "members")],
    show(state, entry) {
      showList(state, entry, ({ members }) => ({ members: members.filter(it => it.username !== entry.subject) }))
    },
    pull: entry => [`${entry.list}/list`]
  },

  putNote: {
    target: targetOf("notes"),
    request: entry => ["PUT", pathOf(entry, "notes", based(entry))],
    show(state, entry) {
      const known = state.notes.get(entry.subject)
      const note = {
        title: entry.subject, createdAt: entry.createdAt, ...known, ...entry.body,
        updatedAt: entry.createdAt, pending: true, entry: entry.id
      }
      if (entry.draft) note.draft = true
      // A further text begins where this one began: it lacks what the copy has got since.
      note.rev = entry.base ?? undefined
      state.notes.set(entry.subject, note)
    },
    async keep(transaction, entry, answer) {
      const note = { ...answer, list: entry.list }
      if (entry.draft) note.draft = true
      await transaction.put("notes", note)
      const { markdown, rev } = answer, mine = entry.body.markdown
      // What others have changed is not in a later text. With the base that it has, the server merges it, too; but a line
      // of this text that the later one takes back would then stay, so that its author is asked.
      await rebase(transaction, entry, later => {
        if (markdown === mine) return { base: rev }
        if (later.action !== "putNote" || includes(later.body.markdown, mine)) return {}
        const reason = "It was changed at the same time"
        return { state: "rejected", error: "conflict", reason, base: undefined, theirs: { markdown, rev }, was: mine }
      })
    }
  },

  deleteNote: {
    target: targetOf("notes"),
    request: entry => ["DELETE", pathOf(entry, "notes", based(entry))],
    show(state, entry) { state.notes.delete(entry.subject) },
    keep: (transaction, entry) => transaction.delete("notes", [entry.list, entry.subject])
  },

  publish: {
    ...endOfDraft,
    request: entry => ["POST", pathOf(entry, entry.kind + "s", "/publish")],
    show(state, entry) {
      const items = entry.kind === "note" ? state.notes : state.bookmarks
      const item = items.get(entry.subject)
      if (item) items.set(entry.subject, { ...item, draft: undefined, pending: true })
      endOfDraft.show(state, entry)
    }
  },

  discardDraft: { ...endOfDraft, request: entry => ["DELETE", pathOf(entry, entry.kind + "s", "/draft")] }
}

/** The header fields of an entry's request. They are the same at every attempt, as `Idempotency-Key` requires. */
export const fields = ({ key, action, base, type }) => ({
  "idempotency-key": key, ...(/annotate|discard/.test(action) && base && { "if-match": `"${base}"` }), ...(type && { "content-type": type })
})

/** Whether a later change must wait for an earlier one. */
export const follows = (later, earlier) => later.target === earlier.target
  || later.target.startsWith(earlier.target + "/") || earlier.target.startsWith(later.target + "/")

/** Whether reads include the entry's change. */
export const isShown = entry => ["pending", "transit", "parked"].includes(entry.state)

/** Removes a list from the copy. */
export async function forget(transaction, list) {
  await transaction.delete("lists", list)
  await transaction.delete("orders", list)
  for (const store of ["bookmarks", "notes", "drafts"]) await transaction.delete(store, below(list))
}
