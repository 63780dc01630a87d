/** One operation: parameters, body and answers in the middle; the same request as a program and a form beside them. */
import { h } from "./dom.js"
import { bounds, prose, schemaView } from "./docs-schema.js"
import { languages, wish } from "./docs-snippets.js"
import { tryForm } from "./docs-try.js"

const places = { path: "In the path", query: "In the query", header: "Header fields", cookie: "Cookies" }
const proofs = { none: "anyone", bearer: "a token", basic: "a name and password", cookie: "the cookie" }

/**
 * @param {import("./docs-contract.js").Operation} operation
 * @param {{before?: object, after?: object}} beside the operations before and after this one
 * @param {import("./docs-try.js").Session} session
 */
export function operationView(operation, beside, session) {
  const program = h("code")
  let wanted
  const write = () => { program.textContent = languages[session.language](wanted) }
  const form = tryForm(operation, session, (...values) => {
    wanted = wish(operation, ...values)
    write()
  })
  const language = h("select", { "aria-label": "Language", onchange: event => { session.language = event.target.value; write() } },
    Object.keys(languages).map(each => h("option", null, each)))
  language.value = session.language
  return h("article", { "aria-labelledby": "title" },
    h("p", { class: "path" }, verb(operation), h("span", null, operation.path)),
    h("h1", { id: "title", tabindex: "-1" }, operation.summary.split("`").join("")),
    operation.description && prose(operation.description, "p", "lead"),
    h("ul", { class: "tokens", "aria-label": "Who may call" }, operation.security.map(each => h("li", null, proofs[each] ?? each))),
    h("div", { class: "two" },
      h("div", null, parameters(operation), body(operation), answers(operation)),
      h("div", null, h("div", { class: "sticky" }, box(language, h("pre", { tabindex: "0", "aria-label": "The request as a program" }, program), program), form))),
    h("nav", { class: "ends", "aria-label": "Neighbours" }, link(beside.before, "← "), link(beside.after, "", " →")))
}

/** The method's name, with a class for its colour. */
export function verb(operation) {
  return h("span", { class: `verb ${operation.method.toLowerCase()}` }, operation.method)
}

function link(operation, before, after = "") {
  return operation ? h("a", { href: `/docs#${operation.id}` }, before, operation.summary.split("`").join("").slice(0, 60), after) : h("span")
}

function parameters(operation) {
  return Object.entries(places).map(([place, title]) => {
    const all = operation.parameters.filter(each => each.in === place)
    return all.length > 0 && h("section", { class: "part" }, h("h2", null, title), all.map(each => {
      const schema = operation.contract.resolve(each.schema)
      return h("div", { class: "field" },
        h("span", { class: "name" }, each.name), h("span", { class: "kind" }, operation.contract.kind(each.schema), bounds(schema)),
        each.required && h("span", { class: "must" }, "needed"),
        (each.description ?? schema.description) && prose(each.description ?? schema.description, "p", "small"))
    }))
  })
}

function body(operation) {
  if (!operation.body) return null
  return h("section", { class: "part" }, h("h2", null, "Body"),
    operation.body.description && prose(operation.body.description),
    Object.entries(operation.body.content ?? {}).map(([type, media]) => h("div", null,
      h("p", { class: "hint" }, type, operation.body.required ? "" : ", may be left out"),
      media.schema && schemaView(operation.contract, media.schema))))
}

function answers(operation) {
  return h("section", { class: "part" }, h("h2", null, "Answers"), operation.answers.map(each => {
    const inside = h("div")
    const isGood = /^[123]/.test(each.status)
    const fill = () => { if (!inside.firstChild) inside.append(...answer(operation, each)) }
    const view = h("details", { class: "answer", open: isGood && each.content ? true : null, ontoggle: event => { if (event.target.open) fill() } },
      h("summary", null, h("span", { class: `status ${isGood ? "ok" : "no"}` }, each.status), prose(each.description, "span")), inside)
    if (view.hasAttribute("open")) fill()
    return view
  }))
}

function answer(operation, each) {
  const media = Object.entries(each.content ?? {})
  const fields = Object.entries(each.headers ?? {}).map(([name, field]) => {
    const found = operation.contract.resolve(field)
    return h("div", { class: "field" }, h("span", { class: "name" }, name), h("span", { class: "kind" }, "header field"),
      found.description && prose(found.description, "p", "small"))
  })
  if (!media.length && !fields.length) return [h("p", { class: "muted small" }, "Without a body.")]
  return [...fields, ...media.flatMap(([type, { schema }]) => [
    h("p", { class: "hint" }, type), schemaView(operation.contract, schema ?? {}), sample(operation, type, schema),
  ])]
}

function sample(operation, type, schema) {
  if (!type.includes("json")) return null
  const value = operation.contract.example(schema)
  if (value === undefined || value === "text") return null
  const text = JSON.stringify(value, null, 2)
  return h("details", { class: "more" }, h("summary", null, "Example"), h("div", null, h("pre", { tabindex: "0", "aria-label": "An example of the answer" }, text)))
}

/** A box with a title, which may be a field, and, if there is a `source`, a button that copies its text. */
export function box(title, content, source) {
  const copy = h("button", {
    class: "quiet", type: "button",
    onclick: async () => {
      try {
        await navigator.clipboard.writeText(source.textContent)
        copy.textContent = "Copied"
      } catch { copy.textContent = "Not allowed here" }
      setTimeout(() => { copy.textContent = "Copy" }, 2000)
    },
  }, "Copy")
  return h("section", { class: "box" }, h("header", null, typeof title === "string" ? h("h2", null, title) : title, source && copy), content)
}
