/** The server's state: the last hour, connections and feeds, upstreams and their cache. */
import { h } from "./dom.js"
import { ask, bytes, count, some } from "./admin-api.js"
import { plot } from "./admin-plots.js"
import { sheet } from "./admin-tables.js"

/** The time between two updates, in milliseconds. */
const interval = 10_000

/** The first panel. It updates every ten seconds until `signal` is aborted. */
export async function overview(place, signal) {
  let samples = []
  let seconds = 10
  const facts = h("ul", { class: "facts" })
  const plots = h("div", { class: "plots" })
  const addresses = h("div")
  const about = h("p", { class: "lead" })
  const soon = h("p", { class: "lead" }, "The server takes a sample every ten seconds; the first ones are on their way.")
  const look = async () => {
    const after = samples.length ? `?after=${encodeURIComponent(samples.at(-1).at)}` : ""
    const [history, now, server] = await Promise.all([ask(`/v1/admin/history${after}`), ask("/v1/admin/connections"), ask("/v1/admin/server")])
    about.textContent = `Version ${server.version}, up ${uptime(server.startedAt)}. ${bytes(server.freeBytes)} of the disk's ${bytes(server.diskBytes)} are free.`
    seconds = history.seconds
    samples = [...samples, ...history.samples].slice(-3600 / seconds)
    soon.hidden = samples.length > 1
    facts.replaceChildren(...Object.entries({
      "Connections": now.open, "Requests now": now.requests, "Feeds": now.feeds, "Waiting feeds": now.waitingFeeds,
      "Open stores": now.openStores, "Stores in use": now.leasedStores, "Refused connections": now.refused, "Refused requests": now.refusedRequests,
    }).map(([name, value]) => h("li", null, h("span", null, name), h("strong", null, count(value)))))
    plots.replaceChildren(...draw(samples, seconds))
    addresses.replaceChildren(sheet("Addresses with the most connections", ["Address", "#Connections"], now.addresses.map(each => [each.address, count(each.connections)]), "No client is connected."))
  }
  await look()
  place.replaceChildren(h("h1", { tabindex: "-1" }, "Server"),
    h("p", { class: "lead" }, "What it does now and did in the last hour. This panel looks again every ten seconds."), about,
    facts, h("section", { class: "block" }, h("h2", null, "The last hour"), soon, plots),
    h("section", { class: "block" }, h("h2", null, "Where connections come from"), addresses))
  const timer = setInterval(() => look().catch(() => {}), interval)
  signal.addEventListener("abort", () => clearInterval(timer))
}

/** How long ago a time is: “3 days”, “5 hours”, “12 minutes”. */
function uptime(text) {
  const minutes = Math.max(0, Math.floor((Date.now() - new Date(text)) / 60_000))
  return minutes < 120 ? some(minutes, "minute") : minutes < 2880 ? some(Math.floor(minutes / 60), "hour") : some(Math.floor(minutes / 1440), "day")
}

function draw(samples, seconds) {
  const slots = 3600 / seconds
  const of = (name, scale = 1) => samples.map(each => each[name] * scale)
  const rate = value => `${value < 10 ? Math.round(value * 10) / 10 : Math.round(value)}/s`
  const whole = value => count(Math.round(value))
  return [
    plot("Commits", of("commits", 1 / seconds), { slots, words: rate }),
    plot("Answers", samples.map(each => (each.successes + each.clientErrors + each.serverErrors) / seconds), { slots, words: rate }),
    plot("Answers from 400 to 499", of("clientErrors"), { slots, words: whole }),
    plot("Answers from 500", of("serverErrors"), { slots, words: whole, isBad: true }),
    plot("Limits met", of("limited"), { slots, words: whole, isBad: true }),
    plot("Connections", of("connections"), { slots, words: whole }),
    plot("Feeds", of("feeds"), { slots, words: whole }),
    plot("Memory", of("memoryBytes"), { slots, words: bytes }),
    plot("Processor", of("processorMilliseconds", 1 / (seconds * 10)), { slots, words: value => `${Math.round(value)} %` }),
  ]
}

const tones = { closed: "good", open: "bad", "half-open": "busy" }

/** The upstreams with their circuit breakers, and the cache of their answers. */
export async function upstreams(place) {
  const { upstreams, cache } = await ask("/v1/admin/upstreams")
  const sums = counts => Object.entries(counts).map(([name, value]) => `${name.replaceAll("_", " ")} ${count(value)}`).join(", ") || "none yet"
  place.replaceChildren(h("h1", { tabindex: "-1" }, "Upstreams"),
    h("p", { class: "lead" }, "Who answers searches, in the order in which they are asked. An open breaker lets no call through until the upstream answers a probe."),
    sheet("Upstreams", ["Upstream", "Breaker", "Calls since the start"], upstreams.map(each => [each.name,
      h("span", { class: `state ${tones[each.breaker] ?? ""}` }, each.breaker ? each.isRecovering ? `${each.breaker}, recovering` : each.breaker : "none, in this process"),
      each.breaker ? sums(each.calls) : "not counted"]), "There is none."),
    h("section", { class: "block" }, h("h2", null, "Cache of answers"), cache ? h("ul", { class: "facts" },
      [["Answers kept", bytes(cache.answerBytes)], ["Room for answers", bytes(cache.maximumBytes)], ["Hotels kept", count(cache.hotels)],
        ...Object.entries(cache.searches).map(([name, value]) => [`Searches: ${name.replaceAll("_", " ")}`, count(value)])]
        .map(([name, value]) => h("li", null, h("span", null, name), h("strong", null, value))))
      : h("p", { class: "lead" }, "The catalogue in this process is asked itself: nothing needs keeping.")))
}
