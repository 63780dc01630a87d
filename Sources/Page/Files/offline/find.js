import { distance, isPlace, isSight, lines, meanings, namesOf, sortedName } from "./places.js"
import { asPhrase, contacts, counts, hay, hayOfNames, key, matches, others, priceOf, refusal, said, wanted } from "./words.js"

const textOf = (hotel, ...names) => names.flatMap(name => hotel[name] ?? []).filter(text => text?.trim).join(" | ")

/** The names of members that are true: `free_parking`. */
const flagsOf = hotel => Object.keys(hotel).filter(name => hotel[name] === true).join(" | ").replaceAll("_", " ")

/** What a hotel was searched in with some names of places, for the next search of the same object. */
let hays, used, spelledNames

function searched(hotel) {
  if (used !== lines) [hays, used, spelledNames] = [new WeakMap(), lines, {}]
  if (!hays.has(hotel)) {
    const address = hay(textOf(hotel, "address"), 1), city = hay(textOf(hotel, "city", "state", "country"), 1)
    const all = namesOf(hotel), names = spelledNames[all] ??= hayOfNames(all), spot = city + names
    const heading = hay(textOf(hotel, "title", "alias", "category"))
    const name = hay(textOf(hotel, "name")), title = heading + spot
    const what = name + hay(textOf(hotel, "description", "amenities", "myNote", "myTags") + " | " + flagsOf(hotel)) + contacts(hotel) + heading + address + city
    hays.set(hotel, { what, name, own: key(hotel.name), towns: [hotel.city, hotel.state, hotel.country].map(key), names, where: address + spot, titled: address + title, head: name + title, spot })
  }
  return hays.get(hotel)
}

const whole = form => ` ${form.trimEnd()} `

/** Whether a hotel has one of the forms, in its texts for a description or in those for a location. */
function has(hotel, { forms, at }, where = "where") {
  const texts = searched(hotel)
  return forms.some(form => at ? texts[where].includes(" " + form) : texts.what.includes(" " + form) || texts.names.includes(whole(form)))
}

/** Whether a hotel's place has all words as they are. */
const isThere = (hotel, words) => words.every(({ forms }) => forms.some(form => searched(hotel).spot.includes(whole(form))))

/** A word with its English name if more hotels have that, and no beginning of a word if it is the name of a place of theirs. */
function complete(word, hotels) {
  const count = forms => hotels.filter(it => has(it, { forms })).length
  const named = (word.offers ?? []).flatMap(([own, names]) => count(names) > count([own]) ? names : []), forms = [...word.forms, ...named]
  const isName = isPlace(word.own) && hotels.some(it => isThere(it, [{ forms }])) || /^.$/.test(word.own) && hotels.some(it => searched(it).name.includes(whole(word.own)))
  return { ...word, forms: isName ? forms.map(form => form.trimEnd() + " ") : forms }
}

/** Whether a hotel's place is called so. */
const isTheirs = (name, hotels) => hotels.some(it => searched(it).towns.includes(name))

/** A word with what it may mean besides if few hotels have it. What hotels' places are called is no mistake. */
const wider = (word, hotels) => !word.own?.[2] || isPlace(word.own) || meanings(word.own)[0] ? word
  : { ...word, forms: [...word.forms, ...others(word.own, () => isTheirs(word.own, hotels) ? [] : hotels.map(it => searched(it).what + searched(it).names), isSight)] }

/** The hotels with most of the words; words that none has are left out first, and the named place counts before others. */
function withMost(hotels, words) {
  const parts = []
  // A single letter says nothing: "w Krakowie".
  words = words.filter(({ key }) => key[1] || key > "z")
  for (let from = 0; from < words.length;) {
    const some = count => words.slice(from, from + count)
    // A hotel in New Road has nothing of New York, and one in Saint-Florent nothing of Saint-Malo.
    const count = [4, 3, 2].find(count => words[from + count - 1] && some(count).every(it => it.own && it.at === words[from].at)
      && (isPlace(some(count).map(it => it.own).join("")) || count < 3 && /^(st|saint|san|santa)$/.test(words[from].own))) ?? 1
    const { forms, at, key } = words[from], texts = forms[0].trim().split(" ")
    const pieces = count > 1 || !texts[1] || isPlace(key) || meanings(key)[0] ? [] : texts.filter(it => it[1])
    parts.push(...pieces[0] ? pieces.map(it => [{ forms: [it + " "], at, key: "" }]) : [some(count)])
    from += count
  }
  const all = parts.map(words => ({ words, name: words.map(it => it.key).join(""), set: new Set(hotels.filter(it => words.every(word => has(it, word)))) }))
  // Who wants to be in Lyon has no use for Tokyo.
  if (all.some(({ words, name, set }) => !set.size && words[0].at && isPlace(name))) return []
  const counted = all.filter(({ set }) => set.size), least = words.length > 1 ? 1 : Math.floor(parts.length / 2) + 1
  if (counted.length < least) return []
  const found = hotels.filter(it => counted.every(({ set }) => set.has(it)))
  if (found[0]) return found
  // A place that everybody knows, or one of a hotel.
  const isNamed = ({ name, words }) => name && hotels.some(it => isThere(it, words)) && (isPlace(name) || isTheirs(name, hotels))
  const named = counted.filter(isNamed), there = hotels.filter(it => named.every(({ words }) => isThere(it, words)))
  if (named[0] && there[0]) {
    const some = there.filter(it => counted.some(word => !named.includes(word) && word.set.has(it)))
    return some[0] ? some : there
  }
  const count = it => counted.filter(({ set }) => set.has(it)).length, most = Math.max(...hotels.map(count))
  // Of one word each, only the rare ones say something: "isle of skye".
  const few = most < 2 ? Math.min(...counted.map(({ set }) => set.size)) * 4 : Infinity
  return most < least ? [] : hotels.filter(it => count(it) === most && counted.some(({ set }) => set.size <= few && set.has(it)))
}

/**
 * Finds hotels with all words. If no hotel has all, `matched` is `most` and those with most of them are found. A price that is
 * asked for orders them, and limits them if nothing else is.
 * @returns {{hotels: object[], matched?: string}}
 */
export function find(hotels, { description = "", location = "", sort, near = "" }, isWish) {
  const asked = [description, location].map(String)
  const refused = asked.flatMap(text => matches(text.normalize(), refusal).map(([all, ...names]) => [all, names.slice(0, -2).find(Boolean)]))
  const isRefused = refused.some(([, name]) => name)
  const says = asked.flatMap(said), prices = says.filter(it => !it.stay), limits = prices.filter(it => it.most)
  const least = Math.max(0, ...limits.map(it => it.least)), most = Math.min(...limits.map(it => it.most))
  const names = isWish ? [] : says.flatMap(it => it.names.map(asPhrase))
  const keepsSaid = names[0] && hotels.some(it => names.some(said => searched(it).head.includes(said) || searched(it).titled.includes(said)))
  if (keepsSaid) says.length = prices.length = 0
  let texts = asked.map(text => text.normalize().replace(refusal, " "))
  const excludes = refused[0] && (isRefused || wanted(texts.join(" "), meanings)[0])
  if (!excludes) texts = asked
  // "the US" and "in LA" name places, "near me" is any place.
  const tells = (text, at) => counts(text, keepsSaid) || at && [[text], ...matches(text, /\b[A-Z]{2}\b/g)].some(([it]) => isPlace(key(it)))
  let all = [], exact
  // Those with the words as they are come first, among them and after them those of that name, those with the text as it is, then by
  // how many of the words a name or a place has.
  const [lat, lon] = near.split(","), called = key(description)
  const done = (hotels, matched) => ({
    matched, hotels: hotels.map(hotel => {
      const price = priceOf(hotel), { what, head, own } = searched(hotel)
      return {
        hotel, rank: sort === "distance" ? distance({ lat, lon }, hotel) : prices[0] && limits[0] && sort !== "price" ? price > most ? price : !(price >= least) : prices[0] || sort === "price" ? price ?? 1e15 : 0,
        name: sort === "name" ? sortedName(hotel) : "",
        score: (exact?.has(hotel) ? 1e4 : 0) + (own && own === called && !isPlace(own)) * 999 + texts.filter(text => text && what.includes(asPhrase(text))).length * 99 + all.filter(({ forms }) => forms.some(form => head.includes(whole(form)))).length
      }
    }).sort((one, other) => one.name.localeCompare(other.name, "en") || one.rank - other.rank || other.score - one.score).map(it => it.hotel)
  })
  for (const [at, text] of texts.entries()) {
    const some = wanted(text, meanings, keepsSaid, at)
    if (!some[0] && text.trim()) return { hotels: [] }
    // "hotel" in Paris means all in Paris, "no pets" all that take none, and "under 100 €" all that cost less.
    if (tells(text, at) || !(at && some[1]) && !isRefused && !says[0] && !texts.some(tells)) all.push(...some.map(word => ({ ...complete(word, hotels), at })))
  }
  const not = excludes ? refused.flatMap(([said, name]) => {
    const word = name ?? said.slice(1), forms = [asPhrase(word), asPhrase(word + "s"), whole(key(word)), ...meanings(key(word)).map(whole)]
    // A hotel that says "no pets" has none.
    const before = name ? [" no", " without", asPhrase(said.split(/\s/)[0]).trimEnd()] : []
    return forms.map(form => ({ form, name, said: before.map(it => it + form).concat(name ? form + "not " : []) }))
  }) : []
  const rest = hotels.filter(it => {
    const { what, names } = searched(it)
    return !not.some(({ form, name, said }) => (name ? what + names : what).includes(form) && !said.some(it => what.includes(it)))
  })
  const withAll = (words, where) => rest.filter(it => words.every(word => has(it, word, where)))
  let found = withAll(all)
  exact = new Set(found)
  if (found.length < 100) {
    all = all.map(word => wider(word, hotels))
    found = withAll(all)
  }
  // A pasted name may have a hyphen before a word.
  if (!found[0] && excludes) found = hotels.filter(it => asked.every((text, at) => !text || searched(it)[at ? "where" : "what"].includes(asPhrase(text))))
  if (!found[0] && texts[1]) found = withAll(all, "titled")
  if (!all[0] && limits[0]) {
    const within = rest.filter(it => priceOf(it) >= least && priceOf(it) <= most)
    limits.length = 0
    return within[0] ? done(within) : done(rest, "most")
  }
  if (found[0] || !all[0]) return done(found)
  // "Cheap Apartments Vienna" does not make a name of "cheap apartments in London".
  if (keepsSaid && !limits[0]) return find(hotels, { description, location, sort, near }, true)
  found = withMost(rest, all)
  return done(found, found[0] && "most")
}
