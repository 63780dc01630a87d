import { OfflineError } from "./error.js"
import { call, segment } from "./server.js"

/** Whether the local copy answers instead of the server: the server is unreachable, or its status is 5xx. */
const isForCopy = error => error instanceof OfflineError && (error.isOffline || error.status >= 500)

/**
 * Searches on the server, or else in the local copy. `bookmarked` comes from the copy, which includes the waiting
 * changes of the outbox; until the copy is fetched, it comes from the answer. The copy gets the answer's hotels.
 */
export async function search(view, query, signal) {
  const wanted = Object.entries(query).filter(([, value]) => value !== undefined && value !== "")
  let answer
  try {
    answer = (await call("GET", `/v1/hotels?${new URLSearchParams(wanted)}`, { signal })).body
    // A search does without: the storage may be full.
    view.keepFound(answer.hotels).then(() => view.keepPlaces()).catch(() => {})
  } catch (error) {
    if (!isForCopy(error)) throw error
    answer = { source: "device", reason: error.reason, ...await view.search(query) }
  }
  const { bookmarks, entries, isComplete } = await view.place("own")
  const isKnown = id => isComplete || entries.some(entry => !entry.list && entry.subject === id)
  const hotels = answer.hotels.map(hotel => (
    { ...hotel, bookmarked: isKnown(hotel.id) ? bookmarks.has(hotel.id) : !!hotel.bookmarked }))
  return { ...answer, hotels }
}

/** The places of the server's hotels. */
export async function places(query, signal) {
  return (await call("GET", `/v1/places?${new URLSearchParams(query)}`, { signal })).body
}

/** One hotel, from the server or else from the local copy. */
export async function hotel(view, id, signal) {
  try {
    return (await call("GET", `/v1/hotels/${segment(id)}`, { signal })).body
  } catch (error) {
    const kept = isForCopy(error) ? await view.hotel(id) : undefined
    if (kept) return kept
    throw error
  }
}
