import { t } from "./texts.js"

/** Shows the texts around the view. `index.html` has none, so that nobody sees another language first. */
export function showFrame() {
  document.documentElement.lang = t.language
  const places = { search: t.search, bookmarks: t.bookmarked, lists: t.lists, account: t.you }
  for (const link of document.querySelectorAll("[data-place]")) link.lastElementChild.textContent = places[link.dataset.place]
  const words = { ".skip": t.skip, "#kept": t.kept, "#developers": t.developers, "#operator": t.operator }
  for (const [selector, text] of Object.entries(words)) document.querySelector(selector).textContent = text
  const labels = { ".brand": t.home, ".places": t.main, "#toasts": t.messages }
  for (const [selector, text] of Object.entries(labels)) document.querySelector(selector).setAttribute("aria-label", text)
}
