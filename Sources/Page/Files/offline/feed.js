import { problem } from "./server.js"
import { OfflineError } from "./error.js"

/** After this time without a byte the stream counts as broken, in ms. The server sends something every 15 seconds. */
const silence = 40_000

/**
 * Reads `GET /v1/changes` until it ends. It does not use `EventSource`, which hides the status of a refusal and the
 * first `id`, and cannot continue after a reload.
 * @param {object} options
 * @param {string} [options.last] The `id` of the last event; it is sent as `Last-Event-ID`.
 * @param {AbortSignal} options.signal
 * @param {() => void} options.opened
 * @param {(event: {name: string, id: string, data?: object}) => void} options.heard
 * @throws {OfflineError} `offline` also if the connection breaks or no byte arrives for 40 seconds.
 */
export async function listen({ last, signal, opened, heard }) {
  const limit = new AbortController()
  const stop = () => limit.abort()
  signal.addEventListener("abort", stop)
  let timer = setTimeout(stop, silence)
  try {
    const answer = await fetch("/v1/changes", {
      headers: { accept: "text/event-stream", ...(last && { "last-event-id": last }) },
      credentials: "same-origin", cache: "no-store", signal: limit.signal
    })
    if (!answer.ok) throw problem(answer, await answer.text())
    opened()
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    const parser = new Parser(heard)
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(timer)
      timer = setTimeout(stop, silence)
      parser.take(value)
    }
  } catch (error) {
    if (error instanceof OfflineError) throw error
    throw new OfflineError("offline", "The stream of changes has broken off.")
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", stop)
  }
}

/** Parses Server-Sent Events (HTML standard). Unlike the standard, it also reports an event that has only an `id`. */
class Parser {
  #heard; #rest = ""; #event = {}
  constructor(heard) { this.#heard = heard }

  take(text) {
    const lines = (this.#rest + text).split(/\r\n|\n/)
    this.#rest = lines.pop()
    for (const line of lines) this.#line(line)
  }

  #line(line) {
    if (line === "") {
      const { event: name = "message", id, data } = this.#event
      if (id !== undefined) this.#heard({ name, id, data: data && JSON.parse(data) })
      this.#event = {}
      return
    }
    const colon = line.indexOf(":")
    if (colon <= 0) return
    this.#event[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "")
  }
}
