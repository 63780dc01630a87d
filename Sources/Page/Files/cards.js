import { art } from "./art.js"
import { client, isLoggedIn } from "./client.js"
import { h, icon } from "./dom.js"
import { amenitiesOf, chips, nameOf, placeOf, text } from "./facts.js"
import { announce, toast } from "./messages.js"
import { segment } from "./offline/server.js"
import { reason } from "./reasons.js"
import { locale, t } from "./texts.js"
import { putOnLists } from "./to-lists.js"

/** Hotels as cards, and the bookmark button. */

const kilometres = new Intl.NumberFormat(locale, { style: "unit", unit: "kilometer", maximumFractionDigits: 1 })

/** The largest number of amenities on a card. */
const chipsShown = 4

/**
 * The button that bookmarks a hotel. It changes at once. If the server refuses, it changes back, and the app shows the
 * reason.
 * @param {object} hotel
 * @param {boolean} isKept
 * @param {{wide?: boolean}} [options]
 */
export function keepButton(hotel, isKept, { wide = false } = {}) {
  const name = nameOf(hotel)
  const button = h("button", { type: "button", class: wide ? "keep wide" : "keep", "data-hotel": hotel.id }, icon("bookmark"),
    wide ? h("span") : null)
  const show = kept => {
    button.setAttribute("aria-pressed", kept)
    if (wide) button.lastChild.textContent = kept ? t.bookmarked : t.bookmark
    else button.setAttribute("aria-label", t.bookmarkHotel(name))
    button.title = kept ? t.unbookmark : t.bookmark
  }
  show(isKept)
  button.shows = show
  button.addEventListener("click", async () => {
    const wanted = button.getAttribute("aria-pressed") !== "true"
    show(wanted)
    try {
      if (wanted) {
        const entry = await client.bookmark(hotel)
        announce(t.isBookmarked(name))
        client.settled(entry.id).catch(({ isOffline }) => { if (!isOffline && entry.state !== "parked") renewKeepButtons() })
      } else await remove(hotel.id, name)
    } catch (error) {
      show(!wanted)
      toast(`${name}: ${reason(error)}`)
    }
  })
  return button
}

/** The button that puts a hotel on lists. */
const listButton = hotel => h("button", { "aria-label": t.listsOf(nameOf(hotel)), onclick: () => putOnLists(hotel) }, icon("plus"), t.list)

/** Removes a bookmark and offers to undo that. */
async function remove(id, name, options = {}) {
  const entry = await client.unbookmark(id, options)
  toast(t.notBookmarked(name), entry.undoable ? {
    label: t.undo,
    run: () => client.undo(entry.id).then(() => announce(t.bookmarkedAgain(name)), error => toast(reason(error)))
  } : undefined)
  client.settled(entry.id).catch(() => renewKeepButtons())
}

/** Updates all bookmark buttons of the page, after changes elsewhere and after refusals. */
export async function renewKeepButtons() {
  const kept = new Set((await client.bookmarks()).map(bookmark => bookmark.id))
  for (const button of document.querySelectorAll("button.keep")) button.shows?.(kept.has(button.dataset.hotel))
}

/**
 * @param {object} hotel
 * @param {{kept?: boolean, signs?: Node[], words?: Node[], photos?: Node[], end?: Node[], keep?: boolean}}
 *   [options] `signs` are above the name, `words` are the user's own, `end` are buttons below.
 */
export function card(hotel, { kept = false, signs = [], words = [], photos = [], end = [], keep = true } = {}) {
  const name = nameOf(hotel), place = placeOf(hotel), amenities = amenitiesOf(hotel)
  const distance = typeof hotel.distance === "number" ? t.away(kilometres.format(hotel.distance)) : ""
  return h("li.hotel", { "data-id": hotel.id },
    art(hotel),
    keep ? keepButton(hotel, kept) : null,
    h("div.text",
      signs.length ? h("p.row", signs) : null,
      h("h2", { dir: "auto" }, h("a", { href: `/hotels/${segment(hotel.id)}` }, name)),
      h("p.place", { dir: "auto" }, [place, distance].filter(Boolean).join(" · ") || t.somewhere),
      text(hotel.description) ? h("p.about", { dir: "auto" }, text(hotel.description)) : null,
      amenities.length ? chips(amenities, chipsShown) : null, words,
      photos.length ? h("div.pictures.stack", photos) : null,
      h("div.end", end, keep && isLoggedIn() ? listButton(hotel) : null)))
}
