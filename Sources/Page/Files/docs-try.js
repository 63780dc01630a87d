/** A form that sends an operation to this server, with credentials of the user's choice. */
import { h } from "./dom.js"
import { first, target } from "./docs-contract.js"

/** The number of characters of an answer that are shown; more would make the page slow. */
const shownCharacters = 100_000

/**
 * What the user has chosen. A password is only in memory. A token is kept until the tab is closed.
 * @typedef {{kind: "cookie"|"token"|"password"|"none", token: string, name: string, password: string, who: string, language: string}} Session
 */

/** The choices of this tab. @returns {Session} */
export function session(who) {
  return {
    kind: "token", name: "", password: "", who, language: "curl",
    get token() { return sessionStorage.getItem("docs-token") ?? "" },
    set token(text) { sessionStorage.setItem("docs-token", text) },
  }
}

/**
 * @param {import("./docs-contract.js").Operation} operation
 * @param {Session} session
 * @param {function(Map<object, string>, string, string): void} changed called with the values of the form
 */
export function tryForm(operation, session, changed) {
  const inputs = new Map(operation.parameters.filter(each => each.in !== "cookie").map((each, place) => [each, input(operation, each, place)]))
  const body = operation.written && h("textarea", { id: "try-body", spellcheck: "false", value: operation.bodyText })
  const result = h("div", { "aria-live": "polite" })
  const send = h("button", { class: "main", type: "submit" }, "Send")
  const stop = h("button", { type: "button", hidden: true }, "Stop")
  const read = () => [new Map([...inputs].map(([parameter, field]) => [parameter, field.value])), body?.value ?? "", session.kind]
  const tell = () => changed(...read())
  const form = h("form", {
    class: "try", oninput: tell,
    onsubmit: async event => {
      event.preventDefault()
      const abort = new AbortController()
      stop.onclick = () => abort.abort()
      stop.hidden = false
      send.disabled = true
      await run(operation, ...read(), session, abort.signal, result)
      stop.hidden = true
      send.disabled = false
    },
  },
  credentials(session, tell),
  [...inputs].map(([parameter, field]) => h("div", null,
    h("label", { for: field.id }, parameter.name, parameter.required ? "" : h("span", { class: "muted" }, " (may be left out)")), field)),
  body && h("div", null, h("label", { for: "try-body" }, `Body, ${operation.written.type}`), body),
  h("div", { class: "row" }, send, stop))
  tell()
  return h("section", { class: "box" }, h("header", null, h("h2", null, "Try it")), form, result)
}

function input(operation, parameter, place) {
  const schema = operation.contract.resolve(parameter.schema)
  const choices = schema.enum ?? (schema.type === "boolean" ? [true, false] : undefined)
  const id = `try-${place}`
  if (choices) {
    return h("select", { id, required: parameter.required }, !parameter.required && h("option", { value: "" }, ""), choices.map(each => h("option", null, each)))
  }
  return h("input", { id, spellcheck: "false", required: parameter.required, value: first(parameter) })
}

function credentials(session, tell) {
  const kinds = [["token", "A token of this tab"], ["cookie", `This browser's cookie (${session.who})`], ["password", "A name and password"], ["none", "No credentials"]]
  const rest = h("div")
  const show = () => {
    const field = (name, label, type) => h("div", null, h("label", { for: `try-${name}` }, label),
      h("input", { id: `try-${name}`, type, autocomplete: type === "password" ? "new-password" : "username", value: session[name], oninput: event => { session[name] = event.target.value } }))
    rest.replaceChildren(...session.kind === "token" ? [field("token", "Token", "password"), tokenButtons(session, show)]
      : session.kind === "password" ? [field("name", "Name", "text"), field("password", "Password", "password")] : [])
  }
  const choice = h("select", { id: "try-who", onchange: event => { session.kind = event.target.value; show(); tell() } },
    kinds.map(([value, label]) => h("option", { value }, label)))
  choice.value = session.kind
  show()
  return h("div", null, h("label", { for: "try-who" }, "Who calls"), choice, rest)
}

/** A new guest's token with one click, and the line that gives it to a program. */
function tokenButtons(session, show) {
  const button = (label, action) => h("button", {
    class: "quiet", type: "button",
    onclick: async event => {
      try { await action() } catch { event.target.textContent = "Not possible now" }
    },
  }, label)
  return h("div", { class: "row" },
    button("Get a guest's token", async () => {
      const answer = await fetch("/v1/guests", { method: "POST", credentials: "omit" })
      session.token = (await answer.json()).token
      show()
    }),
    session.token && button("Copy for a terminal", () => navigator.clipboard.writeText(`export TOKEN='${session.token}'`)))
}

async function run(operation, values, body, kind, session, signal, result) {
  const headers = new Headers()
  try {
    for (const [parameter, value] of values) if (parameter.in === "header" && value) headers.set(parameter.name, value)
    if (kind === "token" && session.token) headers.set("Authorization", `Bearer ${session.token}`)
    if (kind === "password") headers.set("Authorization", `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${session.name}:${session.password}`)))}`)
    if (operation.written && body) headers.set("Content-Type", operation.written.type)
    const begun = performance.now()
    const answer = await fetch(target(operation, values), {
      method: operation.method, headers, signal, cache: "no-store",
      body: operation.written && body ? body : undefined, credentials: kind === "cookie" ? "same-origin" : "omit",
    })
    // Use renews a session.
    if (kind === "token") session.token = answer.headers.get("Renewed-Token") ?? session.token
    await show(answer, Math.round(performance.now() - begun), result)
  } catch (error) {
    if (signal.aborted) return void result.firstChild?.append(h("p", { class: "hint" }, "Stopped."))
    result.replaceChildren(h("p", { class: "note bad", id: "try-answer" }, error instanceof TypeError ? `It could not be sent: ${error.message}` : String(error)))
  }
}

/** Sends the request and shows the answer while it arrives; a stream is shown until the user stops it. */
async function show(answer, milliseconds, result) {
  const text = h("pre", { tabindex: "0", "aria-label": "The answer's body" })
  const fields = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n")
  result.replaceChildren(h("div", { id: "try-answer", "data-status": answer.status },
    h("p", { class: "try" }, h("span", null, h("span", { class: `status ${answer.ok ? "ok" : "no"}` }, `${answer.status} ${answer.statusText}`), ` after ${milliseconds} ms`)),
    h("pre", { tabindex: "0", "aria-label": "The answer's header fields" }, fields), text))
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader()
  let whole = ""
  for (;;) {
    const { done, value } = await reader?.read() ?? { done: true }
    if (done) break
    whole += value
    text.textContent = whole.slice(0, shownCharacters)
    if (whole.length > shownCharacters) { await reader.cancel(); text.append("\n… and more"); return }
  }
  if (/json/.test(answer.headers.get("content-type") ?? "")) {
    try { text.textContent = JSON.stringify(JSON.parse(whole), null, 2) } catch { /* Not one JSON value: it stays as received. */ }
  }
  if (!whole) text.textContent = "(no body)"
}
