import { h } from "./dom.js"

/** How many cards are one group: a multiple of each number of columns up to four. */
const size = 24

/** How far from the window groups are shown, so that one sees none appear. */
const margin = "900px"

/**
 * Cards of any number of things. Groups of cards far from the window keep their height and have no cards, so that a long
 * list costs no more than a short one.
 */
export class Tiles {
  #label; #card; #groups = []; #cards = new Map(); #items = []; #watcher
  node = h("div.groups")

  /** @param {(item: object) => HTMLElement} card Makes the card of a thing with an `id`. */
  constructor(label, card, signal) {
    this.#label = label
    this.#card = card
    this.#watcher = new IntersectionObserver(seen => {
      for (const { target, isIntersecting } of seen) this.#set(this.#groups.find(group => group.node === target), isIntersecting)
    }, { rootMargin: margin })
    signal.addEventListener("abort", () => this.#watcher.disconnect())
    // Paper shows all.
    addEventListener("beforeprint", () => this.#groups.forEach(group => this.#set(group, true)), { signal })
  }

  /** Shows things in their order. The card of the same object stays. */
  show(items) {
    this.#items = items
    const known = new Set(items)
    for (const item of this.#cards.keys()) if (!known.has(item)) this.#cards.delete(item)
    const count = Math.ceil(items.length / size)
    while (this.#groups.length > count) {
      const { node } = this.#groups.pop()
      this.#watcher.unobserve(node)
      node.remove()
    }
    while (this.#groups.length < count) {
      const node = h("ul.hotels", { "aria-label": this.#label })
      const group = { node, at: this.#groups.length, isShown: this.#groups.length === 0, height: 0 }
      this.#groups.push(group)
      this.node.append(node)
      if (group.at > 0) node.style.minHeight = `${this.#guess()}px`
      this.#watcher.observe(node)
    }
    for (const group of this.#groups) this.#fill(group)
  }

  /** The place of the card that has an element; -1 for none. */
  place(element) {
    const id = element.closest("[data-id]")?.dataset.id
    return this.#items.findIndex(item => item.id === id)
  }

  /** The card at a place, or at the last one. */
  at(place) { return this.#cards.get(this.#items[Math.min(Math.max(place, 0), this.#items.length - 1)]) }

  #guess() { return this.#groups[0].node.offsetHeight || 8 * 420 }

  #set(group, isShown) {
    if (!group || group.isShown === isShown) return
    // The focus is never taken away.
    if (!isShown && group.node.contains(document.activeElement)) return
    if (!isShown) group.node.style.minHeight = `${group.node.offsetHeight}px`
    group.isShown = isShown
    this.#fill(group)
    if (isShown) group.node.style.minHeight = ""
  }

  #fill({ node, at, isShown }) {
    const items = isShown ? this.#items.slice(at * size, (at + 1) * size) : []
    const cards = items.map(item => {
      if (!this.#cards.has(item)) this.#cards.set(item, this.#card(item))
      return this.#cards.get(item)
    })
    arrange(node, cards)
  }
}

/** Puts a parent's elements into this order, moves only those in a wrong position, and removes all others. */
export function arrange(parent, nodes) {
  nodes.forEach((node, at) => { if (parent.children[at] !== node) parent.insertBefore(node, parent.children[at] ?? null) })
  while (parent.childElementCount > nodes.length) parent.lastElementChild.remove()
}
