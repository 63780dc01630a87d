import { OfflineError } from "./error.js"
import { intercepted, isOurs, problem, segment, send } from "./server.js"

/**
 * The bytes of photos. The store `photos` has those that wait in the outbox, by a random key that the entry names, and
 * those of the server that were shown last, by their digest.
 */

/** How many of the server's photos are kept. */
const mostKept = 100
/** The time limit for the bytes of one photo, in milliseconds. */
const photoTimeout = 120_000

/** The path of a photo. @param {{list?: string, subject: string, name: string}} photo `subject`: the hotel's id. */
export const photoPath = ({ list, subject, name }) =>
  `${list ? `/v1/lists/${segment(list)}` : "/v1"}/bookmarks/${segment(subject)}/photos/${segment(name)}`

/**
 * A photo as a blob: one that waits, one that is kept here, or the server's, which is then kept.
 * @throws {OfflineError} `offline` for one that is not here; the server's.
 */
export async function readPhoto(database, path, { digest, file }) {
  const known = await database.read(["photos"], transaction => transaction.get("photos", file ?? digest))
  if (known) return known.blob
  const answer = await send(path, { signal: AbortSignal.timeout(photoTimeout) }).catch(() => {
    throw new OfflineError("offline", "This photo is not on this device, and the server can't be reached.")
  })
  if (!answer.ok) throw problem(answer, await answer.text())
  if (!isOurs(answer, "image/")) throw intercepted(answer)
  const blob = await answer.blob()
  // It is shown even if there is no room for it.
  await database.write(["photos"], async transaction => {
    await transaction.put("photos", { key: digest, blob, at: Date.now() })
    const kept = (await transaction.all("photos")).filter(it => it.key.startsWith("md5-")).sort((one, other) => other.at - one.at)
    for (const { key } of kept.slice(mostKept)) await transaction.delete("photos", key)
  }).catch(() => {})
  return blob
}

/** Changes the photos of a bookmark as reads return it. */
export function showPhotos(bookmarks, { subject }, change) {
  const known = bookmarks.get(subject)
  if (known) bookmarks.set(subject, { ...known, photos: change(known.photos ?? []) })
}

/** Changes the photos of a stored bookmark. @param {string} [rev] Its new revision. */
export async function keepPhotos(transaction, { list, subject }, change, rev) {
  const known = await transaction.get("bookmarks", [list ?? "own", subject])
  if (known) await transaction.put("bookmarks", { ...known, photos: change(known.photos ?? []), rev: rev ?? known.rev })
}
