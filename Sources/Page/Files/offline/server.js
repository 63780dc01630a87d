import { OfflineError } from "./error.js"

/** The origin of the page's server, once it is chosen. */
let origin
/** The same if it is another origin than the page's; undefined for the page's own. */
let other

/**
 * Chooses the server of all requests, for as long as the page is there. @param {string} [url] By default the page's own.
 * @throws {OfflineError} `other_server` if the page has chosen another one.
 */
export function useServer(url = location.href) {
  const next = new URL(url, location.href).origin
  if (origin && origin !== next) throw new OfflineError("other_server", `This page uses the server ${origin}: reload it to use another.`)
  origin = next
  other = next === location.origin ? undefined : next
}

/** The name of the database and the channel, and the beginning of the locks' names: each server has its own. */
export const keptName = () => other ? `hotel-bookmarks ${other}` : "hotel-bookmarks"

/** Whether this page is of another origin than the server. */
export const isElsewhere = () => Boolean(other)

/** Sends a request with the session's cookie. */
export const send = (path, options) => fetch(new URL(path, other ?? location.href), {
  credentials: other ? "include" : "same-origin", cache: "no-store", redirect: "manual", ...options
})

/** The time limit of a request, in milliseconds. */
const timeout = 30_000

/**
 * Sends one request to the server, with the session's cookie.
 * @param {string} method
 * @param {string} path
 * @param {{body?: object, file?: Blob, headers?: object, signal?: AbortSignal, timeout?: number}} [options] `file`: a body
 *   of the type that `headers` say.
 * @returns {Promise<{status: number, body: any}>} `body` is null if there is none.
 * @throws {OfflineError} `offline`, `intercepted`, or the server's problem. If `signal` is aborted, it throws the signal's
 *   reason.
 */
export async function call(method, path, options = {}) {
  const headers = { accept: "application/json", ...options.headers }
  if (options.body !== undefined) headers["content-type"] = "application/json"
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), options.timeout ?? timeout)
  const stop = () => limit.abort()
  options.signal?.addEventListener("abort", stop)
  if (options.signal?.aborted) stop()
  try {
    const answer = await send(path, {
      method, headers, signal: limit.signal,
      body: options.file ?? (options.body === undefined ? undefined : JSON.stringify(options.body))
    })
    const text = await answer.text()
    if (!answer.ok) throw problem(answer, text)
    if (!isOurs(answer, answer.status === 204 ? undefined : "application/json")) throw intercepted(answer)
    return { status: answer.status, body: text ? JSON.parse(text) : null }
  } catch (error) {
    if (error instanceof OfflineError) throw error
    if (options.signal?.aborted) throw options.signal.reason
    throw unreachable()
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener("abort", stop)
  }
}

/**
 * Whether an answer with a status 2xx is the server's. Something between may answer in its place: a network's log-in page,
 * a proxy that asks for a log-in, a page about maintenance. The server sends `nosniff` with each answer.
 * @param {string} [type] The content type; undefined for an answer without a body.
 */
export function isOurs(answer, type) {
  const kind = answer.headers.get("content-type")
  return answer.headers.get("x-content-type-options") === "nosniff" && (type ? kind?.startsWith(type) : !kind)
}

const unreachable = () => new OfflineError("offline", "The server can't be reached.")

/** The error for an answer that is not the server's. A gateway's 502 and 504 say that it does not reach the server either. */
export function intercepted(answer) {
  return [502, 504].includes(answer.status) ? unreachable() : new OfflineError(
    "intercepted", "Something between this browser and the server answers in its place.",
    { status: answer.status, retryAfter: retryAfter(answer) })
}

/** The error that an answer describes: the server's problem, or else `intercepted`. */
export function problem(answer, text) {
  let said
  try {
    said = JSON.parse(text)
  } catch {
    // It is not the server's, or has no body.
  }
  // The answer to HEAD has only a type.
  const isBare = !text && answer.headers.get("content-type")?.startsWith("application/problem+json")
  if (!isBare && (typeof said?.error !== "string" || typeof said.reason !== "string")) return intercepted(answer)
  return new OfflineError(
    said?.error ?? `http_${answer.status}`, said?.reason || answer.statusText || `Status ${answer.status}`,
    { status: answer.status, retryAfter: retryAfter(answer), problem: said })
}

function retryAfter(answer) {
  const seconds = Number(answer.headers.get("retry-after"))
  return seconds > 0 ? seconds * 1000 : undefined
}

/** Asks the server for the least, within 5 seconds. @throws {OfflineError} Also `intercepted`. */
export const reach = () => call("HEAD", "/v1/limits", { timeout: 5000 })

/** Whether the server answers within 5 seconds. */
export async function isReachable() {
  return navigator.onLine !== false && reach().then(() => true, () => false)
}

/** Text as a segment of a path, percent-encoded. `.` and `..` would name another path: the server refuses what they become. */
export const segment = text => encodeURIComponent(text).replace(/^\.\.?$/, "$&%00")

/** 128 random bits in hexadecimal. `crypto.randomUUID` does not exist on pages that were loaded by plain HTTP. */
export function randomID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, "0")).join("")
}
