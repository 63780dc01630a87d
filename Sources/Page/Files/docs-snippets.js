/**
 * The same request in several languages. Each text runs as it is, with the credentials in environment variables: `TOKEN`,
 * or `NAME` and `PASSWORD`, or `COOKIE`.
 */
import { target } from "./docs-contract.js"

/** @typedef {{method: string, url: string, fields: [string, string][], body: string, credentials: string, isStream: boolean}} Wish */

/** The languages: a name and the function that writes the text. */
export const languages = { curl, JavaScript: javascript, Python: python, Swift: swift }

/**
 * @param {import("./docs-contract.js").Operation} operation
 * @param {Map<object, string>} values the parameters' values
 * @returns {Wish}
 */
export function wish(operation, values, body, credentials) {
  const fields = [...values].filter(([parameter, value]) => parameter.in === "header" && value !== "").map(([parameter, value]) => [parameter.name, value])
  const sent = operation.written && body ? body : ""
  if (sent) fields.push(["Content-Type", operation.written.type])
  // The server takes a write by cookie only from a page of its own.
  if (credentials === "cookie" && operation.method !== "GET") fields.push(["Origin", location.origin])
  return {
    method: operation.method, url: location.origin + target(operation, values, true), fields, body: sent, credentials,
    isStream: operation.answers.some(each => each.content?.["text/event-stream"]),
  }
}

/** A text as one quoted word of a shell. */
const quoted = value => `'${value.replaceAll("'", `'\\''`)}'`
/** A text as a literal of JavaScript or Python. */
const literal = value => JSON.stringify(value).replaceAll(/[\u2028\u2029]/g, it => `\\u${it.charCodeAt(0).toString(16)}`)

/** @param {Wish} wish */
function curl({ method, url, fields, body, credentials, isStream }) {
  const parts = [`curl ${isStream ? "-N " : ""}${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`]
  if (credentials === "token") parts.push(`-H "Authorization: Bearer $TOKEN"`)
  if (credentials === "password") parts.push(`-u "$NAME:$PASSWORD"`)
  if (credentials === "cookie") parts.push(`-b "AuthSession=$COOKIE"`)
  parts.push(...fields.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`))
  if (body) parts.push(`--data-binary ${quoted(body)}`)
  return parts.join(" \\\n  ")
}

/** A module for Node, from version 18 on. @param {Wish} wish */
function javascript({ method, url, fields, body, credentials, isStream }) {
  const proof = {
    token: ["Authorization", "`Bearer ${process.env.TOKEN}`"],
    password: ["Authorization", "\"Basic \" + Buffer.from(`${process.env.NAME}:${process.env.PASSWORD}`).toString(\"base64\")"],
    cookie: ["Cookie", "`AuthSession=${process.env.COOKIE}`"],
  }[credentials]
  const headers = [...proof ? [proof] : [], ...fields.map(([name, text]) => [name, literal(text)])].map(([name, text]) => `${literal(name)}: ${text}`)
  return lines(
    `const answer = await fetch(${literal(url)}, {`, `  method: ${literal(method)},`,
    headers.length && `  headers: { ${headers.join(", ")} },`, body && `  body: ${objectOr(body)},`, "})",
    isStream ? "for await (const piece of answer.body) process.stdout.write(piece)" : "console.log(answer.status, await answer.text())")
}

/** A body as an object of JavaScript if it is one, else as a text. */
function objectOr(body) {
  try { return `JSON.stringify(${JSON.stringify(JSON.parse(body), null, 2).replaceAll("\n", "\n  ")})` } catch { return literal(body) }
}

/** Python's own library is enough. @param {Wish} wish */
function python({ method, url, fields, body, credentials, isStream }) {
  const proof = {
    token: `"Authorization": "Bearer " + os.environ["TOKEN"]`,
    password: `"Authorization": "Basic " + base64.b64encode(f"{os.environ['NAME']}:{os.environ['PASSWORD']}".encode()).decode()`,
    cookie: `"Cookie": "AuthSession=" + os.environ["COOKIE"]`,
  }[credentials]
  const headers = [...proof ? [proof] : [], ...fields.map(([name, text]) => `${literal(name)}: ${literal(text)}`)]
  return lines(
    credentials === "password" && "import base64", proof && "import os", "import urllib.error\nimport urllib.request\n",
    "request = urllib.request.Request(", `    ${literal(url)},`, `    method=${literal(method)},`,
    headers.length && `    headers={${headers.join(", ")}},`, body && `    data=${literal(body)}.encode(),`, ")",
    "try:\n    answer = urllib.request.urlopen(request)\nexcept urllib.error.HTTPError as problem:\n    answer = problem",
    isStream ? "for line in answer:\n    print(line.decode(), end=\"\", flush=True)" : "print(answer.status, answer.read().decode())")
}

/** @param {Wish} wish */
function swift({ method, url, fields, body, credentials, isStream }) {
  const variable = name => `\\(ProcessInfo.processInfo.environment["${name}", default: ""])`
  const set = (name, text) => `request.setValue(${text}, forHTTPHeaderField: ${swiftText(name)})`
  const proof = {
    token: set("Authorization", `"Bearer ${variable("TOKEN")}"`),
    password: set("Authorization", `"Basic " + Data("${variable("NAME")}:${variable("PASSWORD")}".utf8).base64EncodedString()`),
    cookie: set("Cookie", `"AuthSession=${variable("COOKIE")}"`),
  }[credentials]
  return lines(
    "import Foundation\n#if canImport(FoundationNetworking)\n  import FoundationNetworking\n#endif\n",
    `var request = URLRequest(url: URL(string: ${swiftText(url)})!)`, `request.httpMethod = ${swiftText(method)}`, proof,
    ...fields.map(([name, text]) => set(name, swiftText(text))), body && `request.httpBody = Data(${swiftText(body)}.utf8)`,
    ...isStream ? swiftStream : [
      "let (data, answer) = try await URLSession.shared.data(for: request)",
      "print((answer as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))"])
}

/** A stream has no end, and Foundation on Linux gives its bytes only to a delegate. */
const swiftStream = [
  "\nfinal class Printer: NSObject, URLSessionDataDelegate {",
  "  func urlSession(_: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {",
  "    FileHandle.standardOutput.write(data)",
  "  }",
  "  func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {",
  "    exit(error == nil ? 0 : 1)",
  "  }",
  "}",
  "let session = URLSession(configuration: .default, delegate: Printer(), delegateQueue: nil)",
  "session.dataTask(with: request).resume()",
  "RunLoop.main.run()"]

/** A text as a literal of Swift, which writes some characters in another way than JavaScript. */
const swiftText = text => literal(text).replaceAll(/\\(?:([bf])|u([0-9a-f]{4})|.)/g, (all, letter, code) =>
  letter ? `\\u{${letter === "b" ? "8" : "c"}}` : code ? `\\u{${code}}` : all)

/** The lines that there are. */
const lines = (...all) => all.filter(Boolean).join("\n")
