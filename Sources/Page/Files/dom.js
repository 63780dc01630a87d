/** Functions that create elements. Text becomes text nodes, never markup, so that no user's text can run as code. */
const svgSpace = "http://www.w3.org/2000/svg"

/**
 * Creates an HTML element.
 * @param {string} tag A name with classes, as in a selector: `p.muted.small`.
 * @param {Object<string, *>|*} [props] `on…` are listeners, all others are attributes. true sets an empty attribute;
 *   false, null and undefined set none. A form with `onsubmit` is not sent to the server. A value that is no plain object is
 *   the first child.
 * @param {...(Node|string|number|false|null|undefined|Array)} children
 * @returns {HTMLElement} A button with `onclick` gets the type `button`, so that it submits no form.
 */
export function h(tag, props, ...children) {
  const [name, ...classes] = tag.split("."), element = document.createElement(name)
  if (classes.length) element.className = classes.join(" ")
  if (typeof props !== "object" || props?.nodeType || Array.isArray(props)) props = void children.unshift(props)
  if (name === "button" && props?.onclick) element.type = "button"
  furnish(element, props, children)
  // People's words stand alone in these, in any script. Set last: it looks at all children.
  if (/^(strong|dd|pre|input|textarea)$/.test(name)) element.dir = "auto"
  return element
}

/** Puts these children in the place of all that an element has. */
export const refill = (node, ...children) => node.replaceChildren(...children)

/** A field below its label. */
export const labelled = (label, field, ...more) => h("div", h("label", { for: field.id }, label), field, ...more)

/**
 * The listeners of a field in which one searches while typing. Japanese is typed as a reading, which is no word to search for
 * until it is confirmed.
 */
export const typing = search => ({
  oninput: event => event.isComposing && /[ぁ-ん]/.test(event.data) || search(event), oncompositionend: search
})

/** Creates an SVG element. */
export function svg(tag, props, ...children) {
  return furnish(document.createElementNS(svgSpace, tag), props, children)
}

function furnish(element, props, children) {
  // One by one: there are fewer arguments of a call than lines of a text. Before `dir`, which looks at all children again.
  for (const child of children.flat(3)) if (child || child === 0) element.append(child)
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === false || value === null || value === undefined) continue
    if (name === "onsubmit") element.onsubmit = () => false
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value)
    else if (name === "value") element.value = value
    else element.setAttribute(name, value === true ? "" : value)
  }
  return element
}

const shapes = {
  bookmark: "M7 3h10a1 1 0 0 1 1 1v17l-6-4.6L6 21V4a1 1 0 0 1 1-1z",
  cloud: "M7 19a4.5 4.5 0 0 1-.6-9A6 6 0 0 1 18 9.6a4.8 4.8 0 0 1-.4 9.4z",
  tick: "m9 14 2.2 2.2L15.5 12",
  turn: "M14.6 11.4A3.4 3.4 0 1 0 15.4 14M15.4 10.2v2h-2",
  cross: "m10 12 4 4m0-4-4 4",
  mark: "M12 10.5v4m0 2.3v.2",
  pin: "M12 21s7-6.2 7-11.5a7 7 0 0 0-14 0C5 14.8 12 21 12 21zM12 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5z",
  plus: "M12 5v14M5 12h14",
  camera: "M4 8h3l2-3h6l2 3h3a1 1 0 0 1 1 1v9a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V9a1 1 0 0 1 1-1zM12 16.5a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7z",
  bed: "M3 19v-9m0 5h18v4M21 15v-1.5a3 3 0 0 0-3-3h-7V15M7 13a1.8 1.8 0 1 0 0-3.6A1.8 1.8 0 0 0 7 13z"
}

/** An icon. It is hidden from screen readers, because there is text beside it. */
export function icon(name, props) {
  return svg("svg", { viewBox: "0 0 24 24", "aria-hidden": "true", ...props }, svg("path", { d: shapes[name] }))
}

/** A URL that a link may have: `https:`, `http:` or `mailto:`; null for all others. */
export function safeURL(text) {
  try {
    const url = new URL(String(text).trim())
    return ["https:", "http:", "mailto:"].includes(url.protocol) ? url.href : null
  } catch {
    return null
  }
}
