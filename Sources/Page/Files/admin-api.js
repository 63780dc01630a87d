/** Asks this server as the administrator, by the cookie, and puts numbers into words. */

/** An answer that is none: its status and the server's words. */
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
 * @throws {Refusal} for a status from 400; status 0 where the server can't be reached
 */
export async function ask(path, options = {}) {
  let answer
  try {
    answer = await fetch(path, { cache: "no-store", ...options, headers: { Accept: "application/json", ...options.headers } })
  } catch { throw new Refusal(0, "The server can't be reached. Is it running?") }
  const text = await answer.text()
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

/** A number with its thousands apart; a dash for none. */
export function count(value) { return value === undefined ? "–" : numbers.format(value) }

/** So many of something: “1 conflict”, “2 conflicts”. */
export function some(value, noun) { return `${count(value)} ${noun}${value === 1 ? "" : "s"}` }

/** Bytes as people say them: 12.3 KiB. */
export function bytes(value) {
  if (value === undefined) return "–"
  let [rest, place] = [value, 0]
  while (rest >= 1024 && place < 4) { rest /= 1024; place++ }
  return `${place && rest < 100 ? rest.toFixed(1) : Math.round(rest)} ${["bytes", "KiB", "MiB", "GiB", "TiB"][place]}`
}

/** A moment in the reader's time zone; a dash for none. */
export function moment(text) {
  const date = new Date(text ?? NaN)
  return Number.isNaN(date.getTime()) ? "–" : times.format(date)
}
