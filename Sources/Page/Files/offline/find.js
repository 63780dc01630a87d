import { meanings, namesOf } from "./places.js"
import { hay, hayOfNames, keyOf, wanted } from "./words.js"

const textOf = (hotel, ...names) => names.flatMap(name => hotel[name] ?? []).filter(text => typeof text === "string").join(" | ")

/** What a hotel was searched in, for the next search of the same object. */
const hays = new WeakMap()

function searched(hotel) {
  if (!hays.has(hotel)) {
    const place = hay(textOf(hotel, "address", "city", "state", "country"))
    const names = hayOfNames(namesOf(hotel))
    const what = hay(textOf(hotel, "name", "title", "alias", "description", "amenities", "myNote", "myTags")) + place
    hays.set(hotel, { what, names, where: place + names })
  }
  return hays.get(hotel)
}

/** What a hotel must not have: `paris -hostel`. Without another word, a hyphen before a word means nothing. */
const refusal = /(?<!\S)-\p{L}\S*/gu

/** What is wanted, also under the names of places that it names in another language. */
const asked = text => wanted(text).map(forms => [...forms, ...forms.flatMap(form => meanings(keyOf(form)))])

/**
 * Finds hotels with all words. If no hotel has all, `matched` is `most` and those with most of them are found.
 * @returns {{hotels: object[], matched?: string}}
 */
export function find(hotels, { description = "", location = "" }) {
  let texts = [description, location].map(String)
  const rests = texts.map(text => text.replace(refusal, ""))
  if (wanted(rests.join(" "))[0]) {
    const not = texts.flatMap(text => text.match(refusal) ?? []).flatMap(asked).flat()
    hotels = hotels.filter(it => !not.some(form => searched(it).what.includes(` ${form} `)))
    texts = rests
  }
  const queries = texts.map(asked)
  if (queries.some((query, at) => !query.length && texts[at].trim())) return { hotels: [] }
  const count = (query, text, names = "") => query.filter(forms => forms.some(form => text.includes(" " + form) || names.includes(` ${form} `))).length
  const counted = hotels.map(it => {
    const { what, names, where } = searched(it)
    return count(queries[0], what, names) + count(queries[1], where)
  })
  const all = queries.flat().length
  const most = counted.reduce((one, it) => Math.max(one, it), 0)
  return { hotels: most || !all ? hotels.filter((_, at) => counted[at] === most) : [], matched: most < all && most ? "most" : undefined }
}
