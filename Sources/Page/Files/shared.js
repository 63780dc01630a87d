import { art } from "./art.js"
import { daysOf, time } from "./dates.js"
import { h, safeURL } from "./dom.js"
import { amenitiesOf, chips, nameOf, placeOf, text } from "./facts.js"
import { markdown } from "./markdown.js"
import { t } from "./texts.js"

/**
 * The page of a link that shows a list without an account. The link's secret is the end of the path. The page starts no
 * session and keeps nothing in the browser.
 */
const secret = location.pathname.split("/")[2]
const main = document.getElementById("main")
const hotels = h("ul.hotels"), notes = h("div.stack"), more = h("p.more")

/** Fetches a page of the list. */
async function page(after) {
  const query = after ? `?${new URLSearchParams({ after })}` : ""
  const answer = await fetch(`/v1/links/${secret}${query}`, { cache: "no-store", credentials: "omit", referrerPolicy: "no-referrer" })
  if (answer.ok) return answer.json()
  throw Object.assign(new Error(String(answer.status)), { status: answer.status })
}

function card(hotel) {
  const url = safeURL(text(hotel.url)), about = text(hotel.description), amenities = amenitiesOf(hotel)
  return h("li.hotel", null, art(hotel), h("div.text",
    h("h3", { dir: "auto" }, nameOf(hotel)),
    h("p.place", { dir: "auto" }, [text(hotel.address), placeOf(hotel)].filter(Boolean).join(", ")),
    about ? h("p.about", { dir: "auto" }, about) : null,
    amenities.length ? chips(amenities, 4) : null,
    url ? h("div.end", h("a", { href: url, rel: "noopener noreferrer nofollow" }, t.website)) : null))
}

const note = ({ title, markdown: words, updatedAt }) => h("article.section", h("h3", { dir: "auto" }, title),
  h("p.muted.small", t.changed(time(updatedAt))), markdown(words))

function add(shown) {
  hotels.append(...shown.hotels.map(card))
  notes.append(...shown.notes.map(note))
  more.replaceChildren(...(shown.next ? [h("button", { onclick: ({ target }) => {
    target.disabled = true
    page(shown.next).then(add, error => {
      if (error.status === 404) return failed(error)
      target.disabled = false
      more.replaceChildren(target, h("p.wrong", { role: "alert" }, t.serverBusy))
    })
  } }, t.showMore)] : []))
}

function failed({ status }) {
  const [title, words] = status === 404 ? [t.linkNothing, t.linkNothingText]
    : [t.failed, t.serverBusy]
  main.replaceChildren(h("div.empty", h("h1", title), h("p.lead", words), h("p.section", h("button", { onclick: () => location.reload() }, t.again))))
}

document.documentElement.lang = t.language
document.title = `${t.aList} · Hotel Bookmarks`
document.querySelector(".skip").textContent = t.skip
document.querySelector(".foot p").textContent = t.sharedFoot
document.querySelector("[role=status]").textContent = t.moment
try {
  const shown = await page()
  document.title = `${shown.title} · Hotel Bookmarks`
  main.replaceChildren(h("h1", { dir: "auto" }, shown.title), h("p.lead", daysOf(shown)), h("div.section", markdown(shown.markdown)),
    h("section.section", { "aria-label": t.hotels }, hotels), h("section.section", { "aria-label": t.notes }, notes), more)
  add(shown)
  if (!hotels.childElementCount && !notes.childElementCount && !shown.next) notes.append(h("p.muted", t.sharedEmpty))
} catch (error) { failed(error) }
