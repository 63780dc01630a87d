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

/** Where the user is. @returns {Promise<{lat: number, lon: number}>} @throws {Error} with a text for the user */
export function locate() {
  return new Promise((resolve, reject) => {
    if (!navigator.geolocation) return reject(new Error(t.noGeo))
    navigator.geolocation.getCurrentPosition(({ coords }) => resolve({ lat: coords.latitude, lon: coords.longitude }),
      ({ code }) => reject(new Error(code === 1 ? t.geoRefused : t.noGeo)), { timeout: 10_000, maximumAge: 300_000 })
  })
}
