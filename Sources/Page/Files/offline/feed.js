import { intercepted, isOurs, problem, send } from "./server.js"
import { OfflineError } from "./error.js"

/**
 * Reads `GET /v1/changes` until it ends. It does not use `EventSource`, which hides the status of a refusal and the
 * first `id`, and cannot continue after a reload.
 * @param {object} options
 * @param {string} [options.last] The `id` of the last event; it is sent as `Last-Event-ID`.
 * @param {AbortSignal} options.signal
 * @param {() => void} options.opened
 * @param {() => void} options.beat It is called with each piece that arrives; the server sends one every 20 seconds or more often.
 * @param {(event: {name: string, id: string, data?: object}) => void} options.heard
 * @throws {OfflineError} `offline` also if the connection breaks.
 */
export async function listen({ last, signal, opened, beat, heard }) {
  try {
    const answer = await send("/v1/changes", {
      headers: { accept: "text/event-stream", ...(last && { "last-event-id": last }) }, signal
    })
    if (!answer.ok) throw problem(answer, await answer.text())
    if (!isOurs(answer, "text/event-stream")) throw intercepted(answer)
    opened()
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    const parser = new Parser(heard)
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      beat()
      parser.take(value)
    }
  } catch (error) {
    if (error instanceof OfflineError) throw error
    throw new OfflineError("offline", "The stream of changes has broken off.")
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
