import { h } from "./dom.js"
import { nameOf, placeOf } from "./facts.js"
import { mapLink } from "./geo.js"
import { islands, pointOf } from "./offline/places.js"
import { bounds, clamp, outline, paint, project } from "./map-picture.js"
import { segment } from "./offline/server.js"
import { go } from "./router.js"
import { t } from "./texts.js"

/** The most pixels that the world is wide: 10 metres are one pixel. */
const largest = 4e6
/** Pixels within which points are drawn as one, pixels around what is shown at first, and of a step by keyboard. */
const near = 36, margin = 60, step = 80
/** How many hotels the list beside the map has. */
const listed = 40

/** A map of hotels, and a list of those that are in its window. */
export class HotelMap {
  #canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": t.mapOf, "aria-describedby": "map-keys" })
  #list = h("ul.rows"); #said = h("p.muted", { role: "status" })
  #coast = []; #points = []; #groups = []; #marked; #drawing; #told
  /** What is in the middle, how many pixels the world is wide, and whether a person has chosen both. */
  #x = 0.5; #y = 0.5; #scale = 0; #isMoved = false
  /** The pointers that are down, and how far they have moved. */
  #down = new Map(); #way = 0

  node = h("div.map",
    h("div.sea", this.#canvas, h("div.zoom",
      h("button", { "aria-label": t.zoomIn, onclick: () => this.#zoom(2) }, "+"),
      h("button", { "aria-label": t.zoomOut, onclick: () => this.#zoom(0.5) }, "−"),
      h("button", { "aria-label": t.showAll, onclick: () => this.#fit(this.#points) }, "⤢"))),
    h("div", h("p.hint", { id: "map-keys" }, t.mapKeys), this.#said, this.#list))

  /** @param {AbortSignal} signal It is aborted when the view is left. */
  constructor(signal) {
    const canvas = this.#canvas, hear = (event, listener) => canvas.addEventListener(event, listener, { passive: false })
    hear("pointerdown", event => {
      if (!this.#down.size) this.#way = 0
      canvas.setPointerCapture(event.pointerId)
      this.#down.set(event.pointerId, event)
    })
    hear("pointermove", event => this.#down.has(event.pointerId) ? this.#drag(event) : this.#point(event))
    hear("pointerup", event => {
      this.#down.delete(event.pointerId)
      if (!this.#down.size && this.#way < 6) this.#open(this.#groupAt(event))
    })
    hear("pointercancel", event => this.#down.delete(event.pointerId))
    hear("wheel", event => {
      event.preventDefault()
      this.#zoom(2 ** clamp(-event.deltaY / 200, -1, 1), event)
    })
    hear("keydown", event => this.#press(event))
    const watcher = new ResizeObserver(() => this.#isMoved ? this.#draw() : this.#fit(this.#points))
    watcher.observe(canvas)
    signal.addEventListener("abort", () => watcher.disconnect())
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.#draw(), { signal })
    import("./coast.js").then(({ coast }) => {
      this.#coast = [outline(coast)]
      if (islands()) this.#coast.push(outline(islands(), 4))
      this.#draw()
    })
  }

  /** Shows the bookmarks that have a point. */
  show(bookmarks) {
    this.#points = bookmarks.flatMap(item => {
      const point = pointOf(item.hotel)
      return point ? [{ item, ...project(point) }] : []
    })
    if (this.#isMoved) this.#draw()
    else this.#fit(this.#points)
  }

  /** Shows all of these points. */
  #fit(points) {
    const { left, right, top, bottom } = points.length ? bounds(points) : { left: 0, right: 1, top: 0.2, bottom: 0.7 }
    const { clientWidth: width, clientHeight: height } = this.#canvas
    this.#set((left + right) / 2, (top + bottom) / 2,
      Math.min((width - 2 * margin) / (right - left), (height - 2 * margin) / (bottom - top), largest / 16))
    this.#isMoved = points !== this.#points
  }

  /** Puts a point into the middle. The world is never smaller than the window's width. */
  #set(x, y, scale) {
    this.#scale = clamp(scale, this.#canvas.clientWidth, largest)
    this.#x = clamp(x, 0, 1)
    this.#y = clamp(y, 0, 1)
    this.#isMoved = true
    this.#draw()
  }

  /** Zooms around a place of the window, or its middle. */
  #zoom(factor, { offsetX = this.#canvas.clientWidth / 2, offsetY = this.#canvas.clientHeight / 2 } = {}) {
    const [dx, dy] = [offsetX - this.#canvas.clientWidth / 2, offsetY - this.#canvas.clientHeight / 2]
    const scale = clamp(this.#scale * factor, this.#canvas.clientWidth, largest), change = 1 / this.#scale - 1 / scale
    this.#set(this.#x + dx * change, this.#y + dy * change, scale)
  }

  #move(dx, dy) { this.#set(this.#x + dx / this.#scale, this.#y + dy / this.#scale, this.#scale) }

  #drag(event) {
    const former = this.#down.get(event.pointerId), other = [...this.#down.values()].find(it => it !== former)
    const [dx, dy] = [event.offsetX - former.offsetX, event.offsetY - former.offsetY]
    this.#down.set(event.pointerId, event)
    this.#way += Math.hypot(dx, dy)
    this.#move(other ? -dx / 2 : -dx, other ? -dy / 2 : -dy)
    if (!other) return
    const between = it => Math.hypot(it.offsetX - other.offsetX, it.offsetY - other.offsetY) || 1
    this.#zoom(between(event) / between(former), { offsetX: (event.offsetX + other.offsetX) / 2, offsetY: (event.offsetY + other.offsetY) / 2 })
  }

  #press(event) {
    const { key } = event
    const way = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[key]
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (way) this.#move(...way)
    else if (key === "+" || key === "=") this.#zoom(2)
    else if (key === "-") this.#zoom(0.5)
    else if (key === "0") this.#fit(this.#points)
    else return
    event.preventDefault()
  }

  /** Says which hotel the pointer is on. */
  #point(event) {
    const group = this.#groupAt(event)
    this.#canvas.title = group?.points.length === 1 ? nameOf(group.points[0].item.hotel) : ""
    this.#canvas.style.cursor = group ? "pointer" : ""
  }

  #groupAt({ offsetX, offsetY }) {
    const away = ({ at }) => Math.hypot(at.x - offsetX, at.y - offsetY)
    return this.#groups.filter(group => away(group) < 24).sort((one, other) => away(one) - away(other))[0]
  }

  /** Opens a hotel, or shows several from nearer; those at one place are in the list. */
  #open(group) {
    if (!group) return
    const { left, right, top, bottom } = bounds(group.points)
    if (group.points.length === 1) go(path(group.points[0]))
    else if (Math.max(right - left, bottom - top) * largest > near) this.#fit(group.points)
    else {
      this.#tell(group.points)
      this.#list.querySelector("a").focus()
    }
  }

  #draw() {
    this.#drawing ??= requestAnimationFrame(() => {
      this.#drawing = undefined
      if (!this.#canvas.clientWidth) return
      this.#groups = this.#grouped()
      paint(this.#canvas, { coast: this.#coast, groups: this.#groups, marked: this.#marked, x: this.#x, y: this.#y, scale: this.#scale })
      this.#tell(this.#groups.flatMap(group => group.points))
    })
  }

  /** The points in the window, those that are near each other together. */
  #grouped() {
    const { clientWidth: width, clientHeight: height } = this.#canvas, cells = new Map(), groups = []
    for (const point of this.#points) {
      const [x, y] = [point.x * this.#scale, point.y * this.#scale], [column, row] = [Math.floor(x / near), Math.floor(y / near)]
      const group = [-1, 0, 1].flatMap(dx => [-1, 0, 1].flatMap(dy => cells.get(`${column + dx} ${row + dy}`) ?? []))
        .find(it => Math.hypot(it.x - x, it.y - y) < near)
      if (group) group.points.push(point)
      else {
        const made = { x, y, points: [point], at: { x: x - this.#x * this.#scale + width / 2, y: y - this.#y * this.#scale + height / 2 } }
        const key = `${column} ${row}`
        cells.set(key, [...cells.get(key) ?? [], made])
        groups.push(made)
      }
    }
    return groups.filter(({ at }) => at.x > -near && at.x < width + near && at.y > -near && at.y < height + near)
  }

  /** Lists hotels beside the map. */
  #tell(points) {
    const look = JSON.stringify(points.slice(0, listed + 1).map(({ item }) => [item.id, item.rev]))
    if (look === this.#told) return
    this.#told = look
    this.#said.textContent = points.length > listed ? t.manyHere(points.length) : t.hotelsHere(points.length)
    const mark = point => { this.#marked = point; this.#draw() }
    this.#list.replaceChildren(...points.slice(0, listed).map(point => h("li", { dir: "auto" },
      h("div", h("a", { href: path(point), onfocus: () => mark(point), onblur: () => mark(), onmouseenter: () => mark(point), onmouseleave: () => mark() }, nameOf(point.item.hotel)),
        h("p.muted.small", placeOf(point.item.hotel))), mapLink(point.item.hotel))))
  }
}

const path = ({ item }) => `/hotels/${segment(item.id)}`
