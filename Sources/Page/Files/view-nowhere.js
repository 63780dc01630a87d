import { h } from "./dom.js"
import { empty } from "./states.js"

/** The view for an unknown URL. */
export async function show() {
  const node = empty("There is no such page", "The address may be mistyped, or what was there has gone.", h("a.button.main", { href: "/" }, "Find a hotel"))
  node.querySelector("h2").replaceWith(h("h1", "There is no such page"))
  return { title: "No such page", node }
}
