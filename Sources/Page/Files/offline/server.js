import { OfflineError } from "./error.js"

/** The time limit of a request, in milliseconds. */
const timeout = 30_000

/**
 * Sends one request to the server, with the session's cookie.
 * @param {string} method
 * @param {string} path
 * @param {{body?: object, headers?: object, signal?: AbortSignal, timeout?: number}} [options]
 * @returns {Promise<{status: number, body: any}>} `body` is null if there is none.
 * @throws {OfflineError} `offline`, or the server's problem. If `signal` is aborted, it throws the signal's reason.
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
    const answer = await fetch(path, {
      method, headers, signal: limit.signal, credentials: "same-origin", cache: "no-store",
      body: options.body === undefined ? undefined : JSON.stringify(options.body)
    })
    const text = await answer.text()
    if (!answer.ok) throw problem(answer, text)
    return { status: answer.status, body: text ? JSON.parse(text) : null }
  } catch (error) {
    if (error instanceof OfflineError) throw error
    if (options.signal?.aborted) throw options.signal.reason
    throw new OfflineError("offline", "The server can't be reached.")
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener("abort", stop)
  }
}

/** The error that an answer describes. */
export function problem(answer, text) {
  let said = {}
  try { said = JSON.parse(text) } catch { /* A proxy's page: only the status is useful. */ }
  const seconds = Number(answer.headers.get("retry-after"))
  return new OfflineError(
    said.error ?? `http_${answer.status}`, said.reason || answer.statusText || `Status ${answer.status}`,
    { status: answer.status, retryAfter: seconds > 0 ? seconds * 1000 : undefined, problem: said })
}

/** Whether the server answers `/healthz` within 5 seconds. */
export async function isReachable() {
  if (navigator.onLine === false) return false
  try {
    return (await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(5000) })).ok
  } catch {
    return false
  }
}

/** Text as a segment of a path, percent-encoded. */
export const segment = text => encodeURIComponent(text)

/** 128 random bits in hexadecimal. `crypto.randomUUID` does not exist on pages that were loaded by plain HTTP. */
export function randomID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), byte => byte.toString(16).padStart(2, "0")).join("")
}
