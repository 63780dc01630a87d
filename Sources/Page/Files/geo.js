import { h } from "./dom.js"
import { nameOf } from "./facts.js"
import { pointOf } from "./offline/places.js"
import { segment } from "./offline/server.js"
import { t } from "./texts.js"

/** Places on the earth: where hotels and the user are. */

/** A link that shows a hotel's point in another app, or in OpenStreetMap where no app takes `geo:`; null without a point. */
export function mapLink(hotel) {
  const point = pointOf(hotel)
  if (!point) return null
  const at = `${point.lat},${point.lon}`
  return h("a", /Android/.test(navigator.userAgent) ? { href: `geo:${at}?q=${at}(${segment(nameOf(hotel))})` } : {
    href: `https://www.openstreetmap.org/?mlat=${point.lat}&mlon=${point.lon}#map=17/${point.lat}/${point.lon}`, rel: "noopener noreferrer"
  }, t.inMaps)
}

/** Kilometres from a point to a hotel, by the haversine formula; infinite for a hotel without a point. */
export function distance(from, hotel) {
  const to = pointOf(hotel)
  if (!to) return Infinity
  const rad = degrees => degrees * Math.PI / 180, half = angle => Math.sin(rad(angle) / 2) ** 2
  return 12742 * Math.asin(Math.sqrt(half(to.lat - from.lat) + Math.cos(rad(from.lat)) * Math.cos(rad(to.lat)) * half(to.lon - from.lon)))
}

/** Where the user is. @returns {Promise<{lat: number, lon: number}>} @throws {Error} with a text for the user */
export function locate() {
  return new Promise((resolve, reject) => {
    if (!navigator.geolocation) return reject(new Error(t.noGeo))
    navigator.geolocation.getCurrentPosition(({ coords }) => resolve({ lat: coords.latitude, lon: coords.longitude }),
      ({ code }) => reject(new Error(code === 1 ? t.geoRefused : t.noGeo)), { timeout: 10_000, maximumAge: 300_000 })
  })
}
