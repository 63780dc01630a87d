/** Requests to this server as the administrator, with the cookie; and numbers as text. */

/** A failed request: the status and the server's reason. */
export class Refusal extends Error {
  constructor(status, reason) {
    super(reason)
    this.status = status
  }
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 * @returns {Promise<*>} the answer's JSON
 * @throws {Refusal} for a status that is not 2xx; status 0 if the server can't be reached, or something else answers
 */
export async function ask(path, options = {}) {
  let answer
  try {
    answer = await fetch(path, { cache: "no-store", ...options, headers: { Accept: "application/json", ...options.headers } })
  } catch { throw new Refusal(0, "The server can't be reached. Is it running?") }
  const text = await answer.text()
  // The server sends `nosniff` with each answer. A page about maintenance or a log-in does not count as done.
  if (answer.headers.get("x-content-type-options") !== "nosniff") throw new Refusal(0, "Something between this browser and the server answers in its place.")
  let value
  try { value = JSON.parse(text) } catch { value = {} }
  if (!answer.ok) throw new Refusal(answer.status, value.reason ?? answer.statusText)
  return value
}

/** Sends JSON. */
export function send(method, path, value) {
  return ask(path, { method, body: JSON.stringify(value), headers: { "Content-Type": "application/json" } })
}

const numbers = new Intl.NumberFormat("en-GB")
const times = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" })

/** A number with thousands separators; a dash for undefined. */
export function count(value) { return value === undefined ? "–" : numbers.format(value) }

/** A number with its noun: “1 conflict”, “2 conflicts”. */
export function some(value, noun) { return `${count(value)} ${noun}${value === 1 ? "" : "s"}` }

/** A number of bytes with its unit: 12.3 KiB. */
export function bytes(value) {
  if (value === undefined) return "–"
  let [rest, place] = [value, 0]
  while (rest >= 1024 && place < 4) { rest /= 1024; place++ }
  return `${place && rest < 100 ? rest.toFixed(1) : Math.round(rest)} ${["bytes", "KiB", "MiB", "GiB", "TiB"][place]}`
}

/** A time in the reader's time zone; a dash for none. */
export function moment(text) {
  const date = new Date(text ?? NaN)
  return Number.isNaN(date.getTime()) ? "–" : times.format(date).replaceAll(" ", "\u00A0")
}
