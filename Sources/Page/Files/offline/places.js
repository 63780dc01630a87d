import { asPhrase, key, useTables } from "./words.js"

/**
 * The names under which people look for the place of a hotel, by the rules of the server's `PlaceNames` and `NamedRegion`.
 * The names themselves come in a file, which is fetched after a search and kept beside the hotels: the app starts without.
 */

/** The file's URL; undefined if this module was copied from its server. */
export const placesURL = () => /.*\/page\/\w+\//.exec(import.meta.url)?.[0].concat("places.txt")

export let lines = ""
let byName

/** The names by their kinds, read when they are first asked for. */
const tables = () => byName ??= read()

/** Uses what the file has; its form is described in `PlaceNames+Lines.swift`. */
export function usePlaces(text) {
  [lines, byName] = [text, undefined]
  if (/^f(.*\n){7}x/.test(text)) useTables(...text.split("\n", 8).map(line => line.slice(2)))
}

function read() {
  const countries = new Map(), cities = new Map(), parts = new Map(), meant = new Map(), all = new Set(), offers = new Set(), sights = new Set()
  let endings = [], cases = [], nominatives = [], articles = []
  const list = text => text.split(" ").filter(Boolean)
  for (const line of lines.split("\n")) {
    const [kind, code, ...fields] = line.split("|")
    const [both, known, found] = fields.map(list)
    if (kind === "e") [endings, cases, nominatives, articles] = [list(code), both, ["", ...known], found]
    else if (/[mo]/.test(kind)) {
      meant.set(code, both.map(it => it.replaceAll("_", " ")))
      if (kind === "o") offers.add(code)
    }
    else if (kind === "r") {
      parts.set(code, [...parts.get(code) ?? [], { names: both, outlines: fields.slice(1).map(corners) }])
      // A hotel may have Wales as its country, but Wales does not mean all of it.
      for (const name of both) meant.delete(name)
    } else if (/[cst]/.test(kind)) {
      const names = [...both, ...found]
      const place = { code, names, own: new Set(names) }
      names.forEach(all.add, all)
      if (kind === "t") found.forEach(sights.add, sights)
      for (const name of [...both, ...known]) all.add(name) && kind === "c" ? countries.set(name, place) : cities.set(code + name, names)
      for (const name of kind === "s" ? [] : known) meant.set(name, [...meant.get(name) ?? [], ...names.filter(it => it.length > 3)])
    }
  }
  return { countries, cities, parts, meant, all, offers, sights, endings, cases, nominatives, articles }
}

function corners(text) {
  const steps = text.split(" ").map(Number), all = []
  for (let at = 0, x = 0, y = 0; at < steps.length; at += 2) all.push([x += steps[at], y += steps[at + 1]])
  return all
}

/** Small islands, in the form of `map-picture.js`. */
export const islands = () => /^i\|(.*)/m.exec(lines)?.[1] ?? ""

/** A hotel's point, `{lat, lon}`; null if it has none. */
export function pointOf({ geo } = {}) {
  const [lat, lon] = [geo?.lat, geo?.lon ?? geo?.lng].map(Number)
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && (lat || lon) ? { lat, lon } : null
}

/** Kilometres from a point to a hotel, by the haversine formula; infinite for a hotel without a point. */
export function distance(from, hotel) {
  const to = pointOf(hotel)
  if (!to) return Infinity
  const rad = degrees => degrees * Math.PI / 180, half = angle => Math.sin(rad(angle) / 2) ** 2
  return 12742 * Math.asin(Math.sqrt(half(to.lat - from.lat) + Math.cos(rad(from.lat)) * Math.cos(rad(to.lat)) * half(to.lon - from.lon)))
}

/** A hotel's name as it is sorted: folded, without a leading article. */
export function sortedName({ name }) {
  const words = asPhrase(String(name ?? "")).trim().split(" ")
  return words.slice(words[1] && tables().articles.includes(words[0]) ? 1 : 0).join(" ")
}

const edges = outline => outline.map((corner, at) => [...corner, ...outline[(at + 1) % outline.length]])

/** Whether a ray to the east crosses an odd number of edges. */
const contains = (outline, x, y) => edges(outline).filter(([x1, y1, x2, y2]) =>
  y1 > y !== y2 > y && x < x1 + (y - y1) / (y2 - y1) * (x2 - x1)).length % 2 > 0

/** The distance to the nearest edge, in hundredths of a degree of latitude; 0 within. */
const away = (outline, x, y) => contains(outline, x, y) ? 0 : Math.min(...edges(outline).map(edge => {
  const [x1, y1, x2, y2] = edge.map((it, at) => at % 2 ? it - y : (it - x) * 0.65), [dx, dy] = [x2 - x1, y2 - y1], length = dx * dx + dy * dy
  const share = length ? Math.min(1, Math.max(0, -(x1 * dx + y1 * dy) / length)) : 0
  return Math.hypot(x1 + share * dx, y1 + share * dy)
}))

/** The names of the part of a country where a hotel is. Where it is in the United Kingdom may not be known. */
function partNames(hotel, { code, own }, country) {
  const parts = tables().parts.get(code) ?? []
  const point = pointOf(hotel)
  if (!point) return code === "GB" && own.has(country) ? parts.flatMap(({ names }) => names) : []
  const [x, y] = [point.lon * 100, point.lat * 100]
  const near = parts.map(({ names, outlines }) => ({ names, far: Math.min(...outlines.map(it => away(it, x, y))) }))
    .reduce((one, other) => other.far < one.far ? other : one, { far: 3 })
  return near.names ?? []
}

/** A name, and without each ending that it has. */
const endless = text => [text, ...tables().endings.filter(it => text.endsWith(it)).map(it => text.slice(0, -it.length))]

/** What a name "in" or "of" a place may be the case of, "Лондоне", "Szkocji", and a Hebrew or Arabic one without "in". */
const nominatives = text => /^[בלبل]/.test(text) ? [text.slice(1)] : tables().cases.filter(it => text.endsWith(it)).map(it => text.slice(0, -it.length))
  .filter(it => it[2]).flatMap(it => tables().nominatives.map(end => it + end)).filter(it => it[3] || it > "~")

/**
 * English names of what a name in another language means, for a search.
 * @returns {string[] & {isOffer?: boolean, isCase?: boolean}} Whether it counts only if more hotels have it, and whether the name has an ending.
 */
export function meanings(key) {
  const { meant, offers } = tables(), plain = endless(key), others = plain.some(it => meant.has(it)) || isPlace(key) ? [] : nominatives(key)
  const known = [...plain, ...others].find(it => meant.has(it))
  const names = known ? [...meant.get(known), ...others[0] ? [known] : []] : others.filter(isPlace)
  return Object.assign(names, { isOffer: others[0] || offers.has(known), isCase: others[0] && names[0] && !names.includes(key) })
}

/** Whether a country, a state or a city has a name, as `key` makes it. */
export const isPlace = key => tables().all.has(key)

/** Whether something in a city has a name. */
export const isSight = key => tables().sights.has(key)

/** Names of a hotel's country, of the part of it, and of its city, as `key` makes them. */
export function namesOf(hotel) {
  const { countries, cities, endings } = tables()
  const country = key(hotel.country)
  const place = countries.get(country)
  if (!place) return []
  const known = (code, names) => names.map(it => it && cities.get(code + it)).find(Boolean) ?? []
  const city = key(hotel.city)
  const names = [...known(place.code, [city, key(hotel.city?.split?.(",")[0]), ...endings.map(it => city.split(it)[0])]), ...known(place.code + "/", endless(key(hotel.state)))]
  return [...new Set([...place.names, ...names, ...partNames(hotel, place, country)])]
}
