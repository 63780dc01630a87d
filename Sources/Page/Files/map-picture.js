import { nameOf, text } from "./facts.js"
import { locale } from "./texts.js"

/** Coastlines and points in Mercator's projection, in which the world is 1 wide and 1 high. */

export const clamp = (value, least, most) => Math.min(Math.max(value, least), most)

/** The place of a point. */
export function project({ lat, lon }) {
  const angle = clamp(lat, -85, 85) * Math.PI / 360
  return { x: lon / 360 + 0.5, y: 0.5 - Math.log(Math.tan(Math.PI / 4 + angle)) / (2 * Math.PI) }
}

/**
 * The lines of `coast.js`, or of small islands: of these a step is `1 / fine` of a coast's, and the first one leads to the
 * first corner. They are the islands of Natural Earth at 1:50 million that the coast lacks, simplified to 0.05 degrees.
 */
export function outline(lines, fine = 1) {
  const path = new Path2D()
  for (const line of lines.split(" ")) {
    const sign = index => line.charCodeAt(index) - 35
    let lon = (sign(0) * 57 + sign(1)) * fine, lat = (sign(2) * 57 + sign(3)) * fine
    for (let index = 4; index <= line.length; index += 2) {
      const { x, y } = project({ lat: lat / 9 / fine - 90, lon: lon / 9 / fine - 180 })
      if (index <= (fine > 1 ? 6 : 4)) path.moveTo(x, y)
      else path.lineTo(x, y)
      lon += sign(index) - 28
      lat += sign(index + 1) - 28
    }
    path.closePath()
  }
  return path
}

/** The smallest rectangle around points. */
export function bounds(points) {
  const [xs, ys] = [points.map(it => it.x), points.map(it => it.y)]
  return { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) }
}

/** A number has room in its circle. */
const radiusOf = ({ length }) => length > 1 ? 10 + 3 * String(length).length : 7

/** Draws the coast, the points and the names of their towns, as far as there is room. */
export function paint(canvas, { coast, groups, marked, x, y, scale }) {
  const { clientWidth: width, clientHeight: height } = canvas, sharp = devicePixelRatio
  const style = getComputedStyle(canvas), colour = name => style.getPropertyValue(name)
  ;[canvas.width, canvas.height] = [width * sharp, height * sharp]
  const context = canvas.getContext("2d")
  context.setTransform(scale * sharp, 0, 0, scale * sharp, (width / 2 - x * scale) * sharp, (height / 2 - y * scale) * sharp)
  Object.assign(context, { fillStyle: colour("--card"), strokeStyle: colour("--edge"), lineWidth: 1 / scale })
  for (const path of coast) {
    context.fill(path, "evenodd")
    context.stroke(path)
  }
  context.setTransform(sharp, 0, 0, sharp, 0, 0)
  Object.assign(context, { lineWidth: 3, lineJoin: "round", textBaseline: "middle", textAlign: "center" })
  const boxes = []
  for (const { at, points } of groups) {
    const radius = radiusOf(points)
    context.beginPath()
    context.arc(at.x, at.y, radius, 0, 7)
    Object.assign(context, { fillStyle: colour(points.includes(marked) ? "--brass" : "--accent"), strokeStyle: colour("--card") })
    context.fill()
    context.stroke()
    boxes.push([at.x - radius, at.x + radius, at.y])
    if (points.length === 1) continue
    Object.assign(context, { fillStyle: colour("--on-accent"), font: `600 12px ${style.fontFamily}` })
    context.fillText(points.length.toLocaleString(locale), at.x, at.y)
  }
  Object.assign(context, { fillStyle: colour("--ink"), strokeStyle: colour("--card"), font: `13px ${style.fontFamily}`, textAlign: "start" })
  for (const { at, points } of groups) {
    const { hotel } = points[0].item, name = points.length > 1 ? text(hotel.city) : nameOf(hotel)
    const wide = context.measureText(name).width, away = radiusOf(points) + 4
    const left = at.x + away + wide > width ? at.x - away - wide : at.x + away, right = left + wide
    if (!name || boxes.some(([from, to, middle]) => left < to && right > from && Math.abs(middle - at.y) < 17)) continue
    boxes.push([left, right, at.y])
    context.strokeText(name, left, at.y)
    context.fillText(name, left, at.y)
  }
}
