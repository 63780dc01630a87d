/** Small plots of the last hour, as SVG elements. */
import { h, svg } from "./dom.js"

const [width, height] = [360, 60]

/**
 * @param {string} title
 * @param {number[]} values the oldest first
 * @param {{slots: number, words: function(number): string, isBad?: boolean}} options `slots` is the number of values of an hour
 */
export function plot(title, values, { slots, words, isBad = false }) {
  const last = values.at(-1) ?? 0
  const most = values.reduce((one, other) => Math.max(one, other), 0)
  const top = most || 1
  const step = width / Math.max(1, slots - 1)
  const start = width - (values.length - 1) * step
  const points = values.map((value, place) => `${(start + place * step).toFixed(1)},${(height - value / top * (height - 4)).toFixed(1)}`)
  const line = points.join(" ")
  return h("figure", { class: `plot${isBad && most > 0 ? " bad" : ""}` },
    h("figcaption", null, h("span", null, title), h("span", { class: "now" }, words(last))),
    svg("svg", {
      viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img",
      "aria-label": `${title} in the last hour: ${words(last)} now, ${words(most)} at most`,
    },
    svg("line", { class: "floor", x1: 0, x2: width, y1: height, y2: height }),
    values.length > 1 && svg("polygon", { class: "area", points: `${start.toFixed(1)},${height} ${line} ${width},${height}` }),
    values.length > 1 && svg("polyline", { class: "line", points: line })),
    h("div", { class: "ends" }, h("span", null, "an hour ago"), h("span", null, `at most ${words(most)}`), h("span", null, "now")))
}
