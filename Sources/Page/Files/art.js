import { svg } from "./dom.js"

/** The colours of the posters: sky, glow, distant hills, foreground. */
const skies = [
  ["#f3d9b5", "#e8b07c", "#8a5a44", "#5d4037"], ["#cfe3e6", "#8fb8bd", "#3f6b6f", "#274b4f"],
  ["#f6e3c8", "#d9916b", "#9c4a3a", "#5e2c2b"], ["#dfe4d0", "#a9b98a", "#5f7a4f", "#3a5236"],
  ["#e3dcec", "#ab9fc4", "#5f5487", "#3c345c"], ["#fbe6c6", "#f0bd6a", "#3f7a78", "#22494b"],
  ["#d6e4ef", "#94b4cf", "#46688a", "#2b4461"], ["#f4dcd6", "#d99a92", "#7a4a5d", "#4b2c3d"]
]

/** A generator of numbers from 0 to below 1; its seed is a text (FNV-1a, then xorshift). */
function chances(text) {
  let state = 2166136261
  for (const letter of text) state = Math.imul(state ^ letter.codePointAt(0), 16777619) >>> 0
  state ||= 1
  return () => {
    state ^= state << 13; state >>>= 0
    state ^= state >>> 17
    state ^= state << 5; state >>>= 0
    return state / 4294967296
  }
}

const round = value => Math.round(value * 10) / 10

function hills(next, base, height) {
  let path = `M0 ${base}`
  for (let x = 0; x < 320; x += 80) {
    path += ` Q${x + 40} ${round(base - height * (0.3 + next()))} ${x + 80} ${round(base - height * 0.25 * next())}`
  }
  return path + " V180 H0 Z"
}

function houses(next, colour, lit) {
  const parts = []
  for (let x = -6; x < 320;) {
    const width = 18 + next() * 24, height = 30 + next() * 56
    parts.push(svg("path", {
      fill: colour,
      d: `M${round(x)} 180v${round(-height)}${next() < 0.4 ? `l${round(width / 2)} -14l${round(width / 2)} 14` : `h${round(width)}`}v${round(height)}z`
    }))
    for (let y = 180 - height + 10; y < 165; y += 15) {
      if (next() < 0.6) parts.push(svg("rect", { fill: lit, x: round(x + width * 0.25), y: round(y), width: 4.5, height: 7 }))
      if (next() < 0.5) parts.push(svg("rect", { fill: lit, x: round(x + width * 0.6), y: round(y), width: 4.5, height: 7 }))
    }
    x += width + next() * 6
  }
  return parts
}

function waves(next, colour, foam) {
  const parts = [svg("rect", { x: 0, y: 118, width: 320, height: 62, fill: colour })]
  for (let row = 0; row < 4; row++) {
    const x = next() * 200, y = 128 + row * 13
    parts.push(svg("path", { d: `M${round(x)} ${y}q10 -6 20 0t20 0t20 0t20 0`, fill: "none", stroke: foam, "stroke-width": 2, opacity: 0.7 }))
  }
  return parts
}

function trees(next, colour) {
  return Array.from({ length: 7 }, () => {
    const x = next() * 320, size = 16 + next() * 26
    return svg("path", { fill: colour, d: `M${round(x)} 182l${round(size / 2.6)} ${round(-size * 1.5)}l${round(size / 2.6)} ${round(size * 1.5)}z` })
  })
}

/**
 * Draws a small travel poster for a hotel. The same hotel always has the same picture. The page has no photographs and
 * fetches none from another server.
 * @param {{id: string, amenities?: string[], description?: string, name?: string}} hotel
 * @returns {SVGElement} A decoration, hidden from screen readers.
 */
export function art(hotel) {
  const next = chances(String(hotel.id))
  const [sky, glow, far, near] = skies[Math.floor(next() * skies.length)]
  const words = `${hotel.name ?? ""} ${hotel.description ?? ""} ${[hotel.amenities ?? []].flat().join(" ")}`.toLowerCase()
  const scene = /\bsea|beach|harbour|bay\b|coast|lake|pier/.test(words) ? waves
    : /hill|mountain|farm|village|camp|cottage|hostel|garden|loch|forest/.test(words) ? trees : houses
  return svg("svg", { class: "art", viewBox: "0 0 320 180", preserveAspectRatio: "xMidYMax slice", "aria-hidden": "true", stroke: "none" },
    svg("rect", { width: 320, height: 180, fill: sky, stroke: "none" }),
    svg("circle", { cx: round(50 + next() * 220), cy: round(48 + next() * 36), r: round(20 + next() * 16), fill: glow, stroke: "none" }),
    svg("g", { stroke: "none" },
      svg("path", { d: hills(next, 130, 60), fill: glow, opacity: 0.55 }),
      svg("path", { d: hills(next, 152, 46), fill: far }),
      scene(next, near, sky)))
}
