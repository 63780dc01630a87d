import { h } from "./dom.js"
import { t } from "./texts.js"

/** What a hotel's document says, as text. */

/** A member as text. It may have any type, because devices write documents by sync. */
export const text = value => typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : ""

/** A hotel's name. */
export const nameOf = hotel => text(hotel.name) || text(hotel.title) || text(hotel.id)

/** A hotel's town, region and country. */
export const placeOf = hotel => [hotel.city, hotel.state, hotel.country].map(text).filter(Boolean).join(", ")

/** A hotel's amenities as texts. */
export const amenitiesOf = hotel => (Array.isArray(hotel.amenities) ? hotel.amenities : []).map(text).filter(Boolean)

/** Names as a list, of which the first are shown. @returns {HTMLElement} */
export function chips(names, most = names.length) {
  const rest = names.length - most
  return h("ul.chips", { "aria-label": t.features },
    names.slice(0, most).map(name => h("li", name)), rest > 0 ? h("li", t.more(rest)) : null)
}
