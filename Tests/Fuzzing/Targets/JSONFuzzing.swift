import Documents
import Foundation

/// JSON: a text is accepted exactly if the grammar and the limits allow it, and is written again as the same value.
enum JSONFuzzing {
  private static let limits = {
    var limits = JSONLimits(maximumBytes: 4_096)
    limits.maximumMembers = 64
    return limits
  }()

  static func check(_ bytes: [UInt8]) {
    let parsed: ParsedJSON
    do {
      parsed = try ParsedJSON(bytes, limits: limits)
    } catch {
      claim((0...bytes.count).contains(error.offset) || error.code == .tooLarge, "an offset inside")
      if error.code == .invalidJSON || error.code == .invalidUTF8 {
        // The parser reports this error only before the text becomes too deep, so the grammar must refuse the text, too.
        claim(!JSONGrammar.accepts(bytes), "refused as no JSON, which it is")
        checkScanner(bytes, isJSON: false)
      }
      return
    }
    claim(JSONGrammar.accepts(bytes), "taken, though the grammar refuses it")
    if hasDoublesOnly(parsed.root) {
      let data = Data(bytes)
      claim(
        (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil,
        "taken, though Foundation refuses it")
    }
    checkScanner(bytes, isJSON: true)
    checkOutputs(parsed.root)
    checkBody(parsed.root)
  }

  /// The parts that are found in a text while it arrives are JSON exactly if the text is.
  private static func checkScanner(_ bytes: [UInt8], isJSON: Bool) {
    var scanner = JSONScanner(member: "a", restLimit: limits.maximumBytes)
    for start in stride(from: 0, to: bytes.count, by: 7) {
      scanner.take(Array(bytes[start..<min(start + 7, bytes.count)]))
    }
    claim(scanner.count == bytes.count && !scanner.isRestTooLong, "all of it is scanned")
    let parts = [scanner.rest] + scanner.elements.map { Array(bytes[$0]) }
    let areJSON = parts.allSatisfy { (try? ParsedJSON($0, limits: limits)) != nil }
    claim(areJSON == isJSON, "parts that are JSON, or not, as the text")
  }

  /// Whether every number fits into a double. The parser stores 9e308 as it is written; Foundation refuses it.
  private static func hasDoublesOnly(_ node: JSONNode) -> Bool {
    node.elements.allSatisfy(hasDoublesOnly)
      && node.members.allSatisfy { hasDoublesOnly($0.value) }
      && (node.kind != .number || node.double?.isFinite ?? false)
  }

  /// Every output form of a value reads as the same value again.
  private static func checkOutputs(_ root: JSONNode) {
    let (minified, canonical, value) = (root.minified, root.canonical, root.value)
    for text in [minified, canonical, value.bytes] {
      guard let again = attempt({ try ParsedJSON(text, limits: .request) })?.root else {
        claim(false, "what was written does not read")
        return
      }
      claim(again.canonical == canonical, "one canonical spelling")
      claim(again.value == value, "the same value")
    }
    if root.kind == .object {
      var (writer, parts) = (JSONCanonicalWriter(root, of: root.members.map(\.ranges)), [UInt8]())
      while let part = writer.next() { parts += part }
      claim(parts == canonical, "written in parts, it is the same")
    }
    let again = attempt { try ParsedJSON(minified, limits: .request).root.minified }
    claim(again == minified, "minified once is minified")
    let rewritten = attempt { try JSONValue(parsing: value.bytes, limits: .request).bytes }
    claim(rewritten == value.bytes, "a value is written in one way")
  }

  /// A body keeps its bytes when `_id` and `_rev` are spliced into it for an answer.
  private static func checkBody(_ root: JSONNode) {
    guard let body = attempt({ try DocumentBody(root) }) else {
      claim(root.kind != .object, "an object makes a body")
      return
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("_id", "x")
    writer.member("_rev", "1-a")
    writer.members(of: body.bytes)
    writer.endObject()
    let answer = attempt { try ParsedJSON(writer.bytes, limits: .request).root }
    claim(answer?["_rev"]?.stringEquals("1-a") ?? false, "an answer reads")
    let back = answer.flatMap { answer in attempt { try DocumentBody(answer) } }
    claim(back?.bytes == body.bytes, "a body's bytes come back")
    claim(back?.digest == body.digest, "and so does its digest")
    claim(
      attempt { try DocumentBody(root.value).digest } == body.digest,
      "the digest does not depend on escapes")
  }
}
