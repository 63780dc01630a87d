/**
 * Reads an OpenAPI document: operations, references, and examples of schemas.
 */

const methods = ["get", "put", "post", "delete", "patch", "head", "options", "x-copy"]

/** The contract as the page uses it. */
export class Contract {
  /** @param {object} document an OpenAPI 3.1 document */
  constructor(document) {
    this.document = document
    /** @type {Operation[]} every operation, in the order of the document's tags */
    this.operations = []
    for (const [path, item] of Object.entries(document.paths ?? {})) {
      for (const method of methods) {
        if (item[method]) this.operations.push(new Operation(this, path, item, method))
      }
    }
    /** @type {{name: string, description: string, operations: Operation[]}[]} */
    this.tags = (document.tags ?? []).map(tag => ({
      name: tag.name, description: tag.description ?? "", operations: this.operations.filter(each => each.tag === tag.name),
    })).filter(tag => tag.operations.length)
    this.operations = this.tags.flatMap(tag => tag.operations)
  }

  /** The target of a reference; any other value unchanged; an empty object for a broken reference. */
  resolve(value) {
    let found = value
    for (let step = 0; step < 20 && typeof found?.$ref === "string"; step++) {
      found = found.$ref.replace(/^#\//, "").split("/").reduce(
        (node, part) => node?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], this.document)
    }
    return found ?? {}
  }

  /** The name of the schema of a reference; undefined for a schema that is not a reference. */
  nameOf(schema) {
    return typeof schema?.$ref === "string" ? schema.$ref.split("/").pop() : undefined
  }

  /** A schema's type as text: `string, date-time`, `list of Bookmark`. */
  kind(schema) {
    const name = this.nameOf(schema)
    const plain = this.resolve(schema)
    const type = [plain.type ?? (plain.properties ? "object" : plain.oneOf || plain.anyOf ? "one of several" : plain.allOf ? "object" : "any value")].flat()
    if (type[0] === "array") return `list of ${plain.items ? this.kind(plain.items) : "values"}`
    return name ?? [type.join(" or "), plain.format].filter(Boolean).join(", ")
  }

  /**
   * An example value of a schema.
   * @param {object} schema
   * @param {object[]} [above] the enclosing schemas, so that a recursive schema ends
   * @param {string} [name] the name of the member that has this schema
   */
  example(schema, above = [], name = "") {
    const plain = this.resolve(schema)
    if (above.includes(plain) || above.length > 8) return undefined
    if (plain.example !== undefined) return plain.example
    if (plain.examples?.length) return plain.examples[0]
    if (plain.const !== undefined) return plain.const
    if (plain.default !== undefined) return plain.default
    if (plain.enum?.length) return plain.enum[0]
    const next = [...above, plain]
    const choice = plain.oneOf ?? plain.anyOf
    if (plain.allOf) return Object.assign({}, ...plain.allOf.map(each => this.example(each, next)))
    if (choice?.length && !plain.properties) return this.example(choice[0], next)
    const type = [plain.type].flat().find(each => each && each !== "null") ?? (plain.properties ? "object" : undefined)
    if (type === "object") {
      const members = Object.entries(plain.properties ?? {}).map(([name, value]) => [name, this.example(value, next, name)])
      return Object.fromEntries(members.filter(([, value]) => value !== undefined))
    }
    if (type === "array") {
      const element = plain.items && this.example(plain.items, next)
      return element === undefined ? [] : [element]
    }
    if (type === "string") return text(plain, name)
    if (type === "integer" || type === "number") return plain.minimum ?? 1
    return type === "boolean" ? true : undefined
  }
}

/** Example texts by the name of the member. */
const texts = {
  name: "Hotel Miramar", title: "Rome in May", city: "Lisbon", country: "Portugal", state: "Lisboa", address: "Rua do Mar 1", username: "anna",
  password: "a good password", description: "By the sea, with breakfast", phone: "+351 21 000 0000", url: "https://hotel.example", markdown: "A *note*",
  id: "hotel_25510", _id: "hotel_25510", q: "pool", role: "reader",
}

/** Values of parameters in a path that fit every caller's store, once the hotel is bookmarked. */
const known = { hotelID: "hotel_25510", documentID: "hotel_25510", title: "Plan", description: "pool", location: "San Francisco" }

/** The value with which a parameter's field begins: an example for what the path needs, otherwise nothing. */
export const first = parameter => parameter.example ?? (parameter.in === "path" ? known[parameter.name] ?? "" : "")

function text(schema, name) {
  if (schema.format === "date-time") return "2026-11-23T21:00:00.000Z"
  if (/\{32\}/.test(schema.pattern ?? "")) return "0123456789abcdef0123456789abcdef"
  if (/\[1-9\].*-/.test(schema.pattern ?? "")) return "1-0123456789abcdef0123456789abcdef"
  return texts[name] ?? "text"
}

/** One operation of the contract. */
export class Operation {
  /** @param {Contract} contract */
  constructor(contract, path, item, method) {
    const node = item[method]
    this.contract = contract
    this.path = path
    this.method = method.replace("x-", "").toUpperCase()
    this.id = node.operationId
    this.tag = node.tags?.[0] ?? ""
    this.summary = node.summary ?? ""
    this.description = node.description ?? ""
    this.parameters = [...(item.parameters ?? []), ...(node.parameters ?? [])].map(each => contract.resolve(each))
    this.body = node.requestBody && contract.resolve(node.requestBody)
    this.answers = Object.entries(node.responses ?? {}).map(([status, each]) => ({ status, ...contract.resolve(each) }))
      .sort((one, other) => one.status.localeCompare(other.status))
    this.security = (node.security ?? contract.document.security ?? []).map(each => Object.keys(each)[0] ?? "none")
    /** The text that a search matches. */
    this.words = [this.id, this.method, path, this.summary, this.description, this.tag].join(" ").toLowerCase()
  }

  /** The first media type of the request body, with its schema and example; undefined without a body. */
  get written() {
    const [type, media] = Object.entries(this.body?.content ?? {})[0] ?? []
    return type && { type, schema: media.schema, example: media.example ?? Object.values(media.examples ?? {})[0]?.value }
  }

  /** An example of the body as text. */
  get bodyText() {
    const written = this.written
    if (!written) return ""
    const value = written.example ?? this.contract.example(written.schema)
    return typeof value === "string" || value === undefined ? value ?? "" : JSON.stringify(value, null, 2)
  }
}

/**
 * A path with the values filled in.
 * @param {Operation} operation
 * @param {Map<object, string>} values the parameters' values
 * @param {boolean} [isShown] whether an empty path parameter is shown as its name
 */
export function target(operation, values, isShown = false) {
  let path = operation.path
  const query = new URLSearchParams()
  for (const [parameter, value] of values) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, value || !isShown ? segment(value) : parameter.name.toUpperCase())
    if (parameter.in === "query" && value !== "") query.append(parameter.name, value)
  }
  return path + (query.size ? `?${query}` : "")
}

function segment(value) {
  return value ? encodeURIComponent(value).replaceAll(/^\.{1,2}$/g, dots => "%2E".repeat(dots.length)) : ""
}
