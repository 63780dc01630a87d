/** The words of hotels and of searches, by the rules of the server's `FoldedText`, `IndexedText` and `WordQuery`. */
let letters, stopWords, equals, latin, saidPattern, amounts, rules
/** What a hotel must not have: `paris -hostel`, "no pets". Without another word, a hyphen before a word means nothing. */
export let refusal
// The commonest, until a search has fetched all.
useTables("æae œoe øo łl đd ðd þth ßss ıi ςσ", "", "wifi,wlan,wi fi", "a the and of at in near|hotel hotels||")

/**
 * Uses the server's tables, which come with the names of places: letters that do not decompose, letters with Latin ones for
 * them, words that are equal, by the first of each form, the groups of `SpelledQuery`, the patterns of `SaidWords`,
 * `AmenityNames` and `Price`, and the rules of `SpelledQuery`.
 */
export function useTables(folds, pairs, words, stops, said = "(?!)", refused = "(?<!\\S)-\\p{L}\\S*", amount = said, spelling = "(?!)") {
  rules = spelling.split("\t\t").map(it => it.split("\t")).map(([it, by]) => [RegExp(it, "gu"), by]);
  [letters, latin] = [folds, pairs].map(text => new Map(text.split(" ").map(([from, ...to]) => [from, to.join("")])));
  [saidPattern, refusal, amounts] = [said, refused, amount].map(it => RegExp(it, "giu"))
  equals = new Map()
  for (const forms of words.split("|").map(it => it.split(","))) {
    for (const [first] of forms.map(it => it.split(" "))) equals.set(first, [...equals.get(first) ?? [], forms])
  }
  stopWords = stops.split("|").map(words => words.split(" "))
}

/** Letters of scripts that put no spaces between words. */
const run = "[\\u0E01-\\u0EFF\\u1000-\\u109F\\u1780-\\u17FF\\u3005-\\u3007\\u3021-\\u318E\\u31A0-\\u9FFF\\uA960-\\uA97F\\uAA60-\\uAA7F\\uAC00-\\uD7FF\\uF900-\\uFAFF\\u{1B000}-\\u{1B16F}\\u{20000}-\\u{3FFFF}]"
const parts = new RegExp(`(?:(?=[\\p{L}\\p{N}\\p{M}])${run})+|(?:(?!${run}|[\\u02B0-\\u02FF])[\\p{L}\\p{N}])+|(?=\\p{Emoji})\\p{So}`, "gu")
const runs = RegExp("^" + run, "u"), isRun = part => runs.test(part)

/** A decimal digit of any script. Their blocks of ten begin at a code that ends in 0 or 6. */
function digit(character) {
  const code = character.codePointAt(0), low = code & 15
  return low < 6 || low < 10 && /\p{Nd}/u.test(String.fromCodePoint(code - low)) ? low : low - 6
}

function fold(text, isExpanded) {
  let folded = text.replaceAll("™", "").normalize("NFKD").toLowerCase().replace(/ (?=\p{M})/gu, "'")
  if (isExpanded) folded = folded.replace(/([aou])\u0308/g, "$1e").replace(/a\u030A/g, "aa").replace(/ø/g, "oe")
  return folded.replace(/[\p{Cf}\u0640]|(?![\u3099\u309A])\p{M}/gu, "").replace(/\p{Nd}/gu, digit)
    .replace(/[^\0-\x7F]/gu, letter => letters.get(letter) ?? letter).normalize("NFC")
}

/** @returns {string[][]} For each term its parts, and whether punctuation follows them. */
const terms = (text, isExpanded) => fold(text, isExpanded).split(/[\s\p{Cc}]+/u)
  .map(term => Object.assign(term.match(parts) ?? [], { term })).filter(term => term[0])

/** The words of the index for a part: of a run, each character with the next. */
const words = part => isRun(part) ? [...part].map((one, at, all) => one + (all[at + 1] ?? "")) : [part]

const joins = term => term.flatMap((_, at) => [2, 3, 4].map(count => term.slice(at, at + count))
  .filter((some, less) => some[less + 1] && !some.some(isRun)).map(some => some.join("")))

/** Words as one word, with a letter between two of them twice and once: Travelodge. */
const together = some => [some.join(""), some.reduce((one, other) => one + other.slice(other[2] && one.at(-1) === other[0]))]

/** The terms without stop words, unless all are. */
function withoutStops(all, termOf = it => it) {
  const [small, kinds, praise] = stopWords
  const isOf = (it, words) => it && !termOf(it)[1] && (words.includes(termOf(it)[0]) || words === small && /^\p{So}/u.test(termOf(it)[0]))
  // Nice is a place, too, if nothing else counts.
  const isWish = it => isOf(it, praise) || isOf(it, ["nice"]) && !all.every(it => isOf(it, ["nice", ...small, ...kinds]))
  all = all.filter((it, at) => !(isWish(it) && isOf(all[at + 1], kinds)))
  for (const stops of [small, kinds]) {
    const rest = all.filter(it => !isOf(it, stops))
    if (rest.length) all = rest
  }
  return all
}

/** A text by the server's rules: the first six let names stand apart, the second is for sites, the eighth for stars, all from the seventh for what stays. */
const rewritten = (text, from, to) => rules.slice(from, to).reduce((text, [it, by]) => text.replace(it, by), text)

/** The last eight digits of each phone number, which are the same however it is written, after a sign: no other number begins it. */
const phones = text => text.split(/[^\d +()./–-]+/).map(it => "ↀ" + it.replace(/\D/g, "").slice(-8)).filter(it => it[8])

/** The words by which a hotel is found besides: its phone numbers and the host of its site. */
export function contacts({ phone, tollfree, url }) {
  const [site, other] = terms(rewritten(url + "", 1, 2))
  return ` ${[...phones(`${phone};${tollfree}`), site?.[1] && !other && "@" + site.join("")].join(" ")} `
}

const pieces = text => rewritten(text.normalize(), 0, 6)

/** A text without what no hotel writes, unless it keeps that. */
const unsaid = (text, keepsSaid) => keepsSaid ? text : pieces(text).replace(saidPattern, " ")

/** The numbers of a text that count no nights or guests, without decimals: 148 of "4 nights from £148". */
const amountsOf = text => (fold(text).match(amounts) ?? []).map(it => it.replace(/[.,]\d\d?$|\D/g, "") * (/[万萬만]/.test(it) ? 1e4 : 1))

/** The price of a hotel; undefined if it is not known. */
export const priceOf = ({ price }) => price?.toFixed ? price : amountsOf(price + "")[0]

/** The matches of a pattern, each with its groups, where it is, and the text. For `replace`, browsers compile a long pattern once, not twice. */
export function matches(text, pattern) {
  const found = []
  text.replace(pattern, (...match) => found.push(match))
  return found
}

/**
 * What a text says that no hotel writes: a price by its least and most, without a most for "cheap", or a stay; and the phrases
 * by which a hotel's name, address or city says the same: "max 506", with its neighbour "cheap sleep".
 * @returns {{names: string[], stay?: string, least: number, most?: number}[]}
 */
export const said = text => matches(pieces(text), saidPattern).map(([all, stay, least = "", other = least, last = other, index, input]) => {
  const found = amountsOf(all)
  const beside = [(/\S+\s*$/.exec(input.slice(0, index)) ?? "") + all, all + (/\s*\S+/.exec(input.slice(index + all.length)) ?? "")]
  return {
    stay, names: (terms(all).flat()[1] ? [all] : found[0] ? [] : beside).filter(it => terms(it).flat()[1]),
    least: last || found[1] ? found[0] : 0, most: last ? Infinity : found.at(-1)
  }
})

/** Whether a text says more than what every result is, a price and a stay. */
export const counts = (text, keepsSaid) => terms(unsaid(text, keepsSaid)).some(term => term[1] || !stopWords.slice(0, 2).some(words => words.includes(term[0])))

/** A place's name without spaces and stop words, by which names are compared. */
export const key = name => name?.trim ? withoutStops(terms(name)).flat().join("") : ""

/** The words under which names of places are searched: a name is one word, so that "great" finds nothing in Great Britain. */
export const hayOfNames = names => names.map(name => terms(name).flat())
  .map(parts => ` § ${parts.flatMap(words).join(parts.some(isRun) ? " " : "")} `).join("")

/** A Cyrillic or Greek word in Latin letters. */
const toLatin = word => latin.has(word[0]) ? [...word].map(it => latin.get(it) ?? it).join("").replaceAll("oy", "ou") : ""

/** A text as a phrase. */
export const asPhrase = text => ` ${phraseOf(terms(text).flat())} `

/** What a text is searched in. Groups of `equals` that begin with one letter are for places: "N. Orange Ave". */
export function hay(text, isOfPlace) {
  text = rewritten(text, 7, 8)
  const plain = terms(text)
  // Other letters are only in these.
  const other = /[^\0-\x7F]/.test(text) ? terms(text, true) : []
  const own = plain.flat().flatMap(words)
  const all = ` ${own.join(" ")} § ${[...[...plain, ...other].flatMap(joins), ...other.flat().flatMap(words), ...other[0] ? own.map(toLatin) : []].join(" ")} `
  const streets = own.filter(it => /..str(asse)?$/.test(it))
    .map(it => it.endsWith("str") ? it + "asse" : it.slice(0, -4))
  const groups = new Set(all.split(" ").flatMap(it => equals.get(it) ?? []))
  return all + [...[...groups].filter(forms => forms[0][1] ? forms.some(form => all.includes(` ${form} `)) : isOfPlace && plain.some(it => !it[1] && forms.includes(it[0]))).flat(), ...streets].join(" § ") + " "
}

/** The two words of which a word may consist, which may share a letter. */
const pairs = word => [...word].slice(3, 24).flatMap((_, at) => [2, 1].map(from => word.slice(0, at + 2) + " " + word.slice(at + from) + " "))

/** The plural of a word, and that of which it may be one. */
const numbers = word => [word + "s", word + "es", word.replace(/y$/, "ies"), word.replace(/ies$/, "y"), word.replace(/e?s$/, ""), word.replace(/s$/, "")]
  .filter(it => it[2]).map(it => it + " ")

/** Whether so many letters at most are inserted, deleted, changed or swapped with a neighbour between two words. */
const isNear = (one, other, left) => one === other || (one[0] === other[0] ? isNear(one.slice(1), other.slice(1), left)
  : left > 0 && ([[1, 1], [0, 1], [1, 0]].some(([a, b]) => isNear(one.slice(a), other.slice(b), left - 1)) || one[0] === other[1] && one[1] === other[0] && isNear(one.slice(2), other.slice(2), left - 1)))

/** What a word may mean besides: its plural, that of which it may be one, and what it may be mistyped for among the words of some texts. */
export function others(word, texts, isSight) {
  const all = numbers(word), own = [...new Set([word + " ", ...all])], counts = new Map()
  if (word[4] && !/^\p{N}/u.test(word)) {
    const those = RegExp(`(?<= )${word[0]}\\S+ `, "g")
    for (const text of texts()) for (const it of new Set(text.match(those))) counts.set(it, (counts.get(it) ?? 0) + 1)
  }
  const right = own.reduce((sum, it) => sum + (counts.get(it) ?? 0), 0)
  const likely = most => [...counts].filter(([it, count]) => right < 10 && count > right * 4 && !own.includes(it) && isNear(word, it.trim(), most)
    && (most < 2 || !it.startsWith(word) && !word.startsWith(it.trim()) && !isSight(it.trim())))
  const near = likely(1), found = near[0] || !word[7] ? near : likely(2)
  return [...all, ...all.flatMap(it => pairs(it.trim())), ...found.sort(([, one], [, other]) => other - one).slice(0, 4).map(([it]) => it),
    ...toLatin(word) ? others(toLatin(word), texts, isSight) : []]
}

/** The words of the index for parts in a row. A hotel may go on after its last run. */
function phraseOf(all) {
  const phrase = all.flatMap(words)
  if (isRun(all.at(-1)) && [...all.at(-1)][1]) phrase.pop()
  return phrase.join(" ")
}

/**
 * What is wanted: for each word of a query the forms of which a hotel must have one. After a form with a space at its end,
 * the word may not go on. A hotel may also have one of the names of an offer if more hotels have these than its first form.
 * `own` is the word itself; a term of several parts has none. `key` is the term without spaces.
 * @returns {{forms: string[], own?: string, key?: string, offers?: [string, string[]][]}[]}
 */
export function wanted(text, meanings, keepsSaid, isAboutPlace) {
  const free = unsaid(text, keepsSaid)
  text = terms(free)[0] ? free : text
  text = !isAboutPlace && !/[^\d +()./–-]/.test(text) && phones(text)[0] || rewritten(text, 6)
  const plain = terms(text), expanded = terms(text, true), end = plain.at(-1)
  const isOpen = end?.term.endsWith(end.at(-1))
  const last = ({ term }) => isOpen && term?.term === end.term && !(term[1] && /^\w$/.test(term.at(-1))) ? "" : " "
  // "w Londynie".
  const counted = withoutStops(plain.map((term, at) => ({ term, other: expanded[at], names: [], offers: [], key: term.join("") })), ({ term }) => term)
    .filter(({ key }, at, all) => key[2] || !meanings(all[at + 1]?.key ?? "").isCase)
  counted.forEach((_, from) => {
    for (let to = from + 1; to <= Math.min(from + 4, counted.length); to++) {
      const some = counted.slice(from, to), found = meanings(some.map(it => it.key).join("")), names = found.map(name => name + " ")
      for (const it of some) {
        if (found.isOffer) it.offers.push([phraseOf(some.flatMap(it => it.term)) + last(some.at(-1)), names])
        else it.names.push(...names)
      }
    }
  })
  const all = counted.reduce((done, word) => {
    const before = done.at(-1)?.term, forms = before && !before[1] && !word.term[1] && equals.get(before[0])?.find(it => it.includes(before[0] + " " + word.term[0]))
    return forms ? [...done.slice(0, -1), { key: before + word.key, forms: forms.map(it => it + " ") }] : [...done, word]
  }, [])
  const solid = it => it?.term?.some(isRun) === false ? it.key : ""
  return all.map((word, at) => {
    if (word.forms) return word
    const { key, offers } = word
    const found = [word.term, word.other].flatMap(term => {
      const phrase = phraseOf(term), hasRun = term.some(isRun)
      const forms = [phrase, ...hasRun ? [] : together(term)]
      return [...forms.map(it => it + (hasRun && !phrase.includes(" ") ? "" : last(word))), (toLatin(phrase) || phrase) + " ", "@" + term.join("") + " "]
    })
    const own = word.term[1] ? "" : solid(word)
    found.push(...pairs(own))
    // Names that an earlier version has kept lack the particles.
    if (own[2] > "א") stopWords[3]?.map(it => found.push(it + own + last(word)))
    for (let from = Math.max(0, at - 3); from <= at; from++) {
      for (let end = Math.max(at + 1, from + 2); end <= from + 4 && solid(all[end - 1]); end++) {
        const some = all.slice(from, end).map(solid)
        if (!some.includes("")) found.push(...together(some).map(it => it + last(all[end - 1])))
      }
    }
    return { forms: [...found, ...word.names], own, key, offers }
  })
}
