/** Revision trees: read from a database's answer, and drawn. */
import { h, svg } from "./dom.js"

/**
 * A revision.
 * @typedef {{rev: string, generation: number, parent: ?string, isLeaf: boolean, isDeleted: boolean, children: string[]}} Revision
 */

/**
 * @param {Array<{ok?: object}>} leaves the answer to `open_revs=all&revs=true`
 * @returns {{revisions: Map<string, Revision>, leaves: object[], winner: ?object}} leaves in CouchDB's order, the winner first
 */
export function readTree(leaves) {
  const documents = leaves.map(each => each.ok).filter(Boolean).sort(order)
  /** @type {Map<string, Revision>} */
  const revisions = new Map()
  for (const document of documents) {
    const { start, ids } = document._revisions
    ids.forEach((id, place) => {
      const rev = `${start - place}-${id}`
      const parent = place + 1 < ids.length ? `${start - place - 1}-${ids[place + 1]}` : null
      const known = revisions.get(rev) ?? { rev, generation: start - place, parent, isLeaf: false, isDeleted: false, children: [] }
      known.parent ??= parent
      if (place === 0) Object.assign(known, { isLeaf: true, isDeleted: document._deleted === true })
      revisions.set(rev, known)
    })
  }
  for (const each of revisions.values()) if (each.parent) revisions.get(each.parent)?.children.push(each.rev)
  return { revisions, leaves: documents, winner: documents[0] ?? null }
}

/** CouchDB's order: live before deleted, then the higher generation first, then the higher digest first. */
function order(one, other) {
  const [a, b] = [one, other].map(each => ({ gone: Boolean(each._deleted), generation: parseInt(each._rev, 10), digest: each._rev.slice(each._rev.indexOf("-") + 1) }))
  return a.gone - b.gone || b.generation - a.generation || (a.digest < b.digest ? 1 : -1)
}

const [step, lane, margin] = [118, 46, 26]

/**
 * Draws a tree from left to right. A dotted edge stands for revisions in a row without a branch.
 * @param {function(string): void} choose called with the revision that the user clicks
 */
export function drawTree(tree, choose) {
  const shown = new Map()
  const edges = []
  let lanes = 0
  const isShown = each => each.isLeaf || each.children.length > 1 || !each.parent || each.children.some(child => tree.revisions.get(child).isLeaf)
  tree.leaves.forEach(leaf => {
    const own = lanes++
    let [node, later, skipped] = [tree.revisions.get(leaf._rev), null, 0]
    while (node) {
      const known = shown.has(node.rev)
      if (known || isShown(node)) {
        if (!known) shown.set(node.rev, { node, y: own, x: 0 })
        if (later) edges.push({ from: node.rev, to: later, skipped })
        if (known) return
        ;[later, skipped] = [node.rev, 0]
      } else { skipped++ }
      node = node.parent && tree.revisions.get(node.parent)
    }
  })
  const generations = [...new Set([...shown.values()].map(each => each.node.generation))].sort((one, other) => one - other)
  for (const each of shown.values()) {
    each.x = margin + generations.indexOf(each.node.generation) * step
    each.y = margin + each.y * lane
  }
  const [width, height] = [margin * 2 + (generations.length - 1) * step + 70, margin * 2 + (lanes - 1) * lane + 14]
  return h("div", { class: "tree", tabindex: "0", role: "region", "aria-label": "The revision tree as a drawing; the list below says the same" },
    svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words(tree) },
      edges.map(({ from, to, skipped }) => edge(shown.get(from), shown.get(to), skipped)),
      [...shown.values()].map(({ node, x, y }) => svg("g", { onclick: () => choose(node.rev) },
        svg("title", null, node.rev),
        svg("circle", { cx: x, cy: y, r: 8, class: kind(tree, node) }),
        svg("text", { x: x - 8, y: y + 22 }, node.rev.length > 11 ? `${node.rev.slice(0, 9)}…` : node.rev)))))
}

function edge(from, to, skipped) {
  const middle = from.x + (to.x - from.x) / 2
  const path = svg("path", { class: "edge", d: `M${from.x + 8} ${from.y} C${middle} ${from.y} ${middle} ${to.y} ${to.x - 8} ${to.y}`, "stroke-dasharray": skipped ? "1 5" : null })
  return skipped ? svg("g", null, path, svg("text", { x: middle - 16, y: Math.max(from.y, to.y) - 8 }, `+${skipped}`)) : path
}

/** The kind of a revision: `winner`, `conflict`, `gone` (deleted), or `""` for any other. */
export function kind(tree, node) {
  if (node.isDeleted) return "gone"
  if (!node.isLeaf) return ""
  return node.rev === tree.winner._rev ? "winner" : "conflict"
}

function words(tree) {
  const conflicts = tree.leaves.filter(each => !each._deleted).length - 1
  return `${tree.revisions.size} revisions, ${tree.leaves.length} branches, ${Math.max(0, conflicts)} conflicts`
}
