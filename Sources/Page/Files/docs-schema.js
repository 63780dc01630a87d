/** Shows a schema. Each part is created when the user opens it, so that recursive schemas work. */
import { h } from "./dom.js"

/** A text of the contract; words between backticks become code. */
export function prose(text, tag = "p", className) {
  const parts = String(text ?? "").split("`")
  return h(tag, { class: className }, parts.map((part, place) => place % 2 ? h("code", null, part) : part))
}

/**
 * The members of an object, the elements of a list, or the choices of `oneOf` and `anyOf`.
 * @param {import("./docs-contract.js").Contract} contract
 */
export function schemaView(contract, schema) {
  const plain = contract.resolve(schema)
  const all = plain.allOf ? plain.allOf.map(each => contract.resolve(each)) : [plain]
  const rows = all.flatMap(part => Object.entries(part.properties ?? {}).map(
    ([name, value]) => field(contract, name, value, (part.required ?? []).includes(name))))
  const choice = plain.oneOf ?? plain.anyOf
  if (choice) rows.push(...choice.map((each, place) => part(contract, `Choice ${place + 1}: ${contract.kind(each)}`, each)))
  if (plain.items) rows.push(part(contract, `Each: ${contract.kind(plain.items)}`, plain.items))
  if (typeof plain.additionalProperties === "object") {
    rows.push(part(contract, `Any other name: ${contract.kind(plain.additionalProperties)}`, plain.additionalProperties))
  }
  const own = plain.description ? [prose(plain.description, "p", "small")] : []
  return h("div", null, own, rows.length ? rows : h("p", { class: "muted small" }, contract.kind(schema), bounds(plain)))
}

function field(contract, name, schema, isRequired) {
  const plain = contract.resolve(schema)
  return h("div", { class: "field" },
    h("span", { class: "name" }, name), h("span", { class: "kind" }, contract.kind(schema), bounds(plain)),
    isRequired && h("span", { class: "must" }, "always"),
    plain.description && prose(plain.description, "p", "small"),
    hasParts(contract, schema) && part(contract, "Show what is in it", schema))
}

function part(contract, label, schema) {
  if (!hasParts(contract, schema)) return h("div", { class: "field" }, h("span", { class: "kind" }, label, bounds(contract.resolve(schema))))
  const inside = h("div")
  return h("details", {
    class: "more",
    ontoggle: event => { if (event.target.open && !inside.firstChild) inside.append(schemaView(contract, schema)) },
  }, h("summary", null, label), inside)
}

function hasParts(contract, schema) {
  const plain = contract.resolve(schema)
  const inner = plain.type === "array" && plain.items ? contract.resolve(plain.items) : plain
  return Boolean(inner.properties || inner.oneOf || inner.anyOf || inner.allOf || typeof inner.additionalProperties === "object")
}

/** A schema's limits as text, each with a comma before it. */
export function bounds(schema) {
  const words = []
  if (schema.enum) words.push(schema.enum.map(each => `“${each}”`).join(", "))
  if (schema.minimum !== undefined && schema.maximum !== undefined) words.push(`${schema.minimum} to ${schema.maximum}`)
  else if (schema.minimum !== undefined) words.push(`from ${schema.minimum}`)
  else if (schema.maximum !== undefined) words.push(`up to ${schema.maximum}`)
  if (schema.maxLength !== undefined) words.push(`${schema.minLength ?? 0} to ${schema.maxLength} characters`)
  if (schema.maxItems !== undefined) words.push(`at most ${schema.maxItems}`)
  if (schema.default !== undefined) words.push(`usually ${schema.default}`)
  return words.map(each => `, ${each}`).join("")
}
