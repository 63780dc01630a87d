import { h } from "./dom.js"
import { empty } from "./states.js"
import { t } from "./texts.js"

/** The view for an unknown URL. */
export async function show() {
  const node = empty(t.noPage, t.noPageText, h("a.button.main", { href: "/" }, t.findHotel))
  node.querySelector("h2").replaceWith(h("h1", t.noPage))
  return { title: t.noPage, node }
}
