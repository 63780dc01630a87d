@testable import HTTPAPI

/// Paths and queries: they are decoded once, to text without NUL and without dot segments. Only below `/couch` may a
/// segment decode to dots, because a document may have that name: `%2E` is a name there, but a written dot is refused.
enum PathFuzzing {
  private static let known = ["limit", "after", "description", "é"]

  static func check(_ bytes: [UInt8]) {
    let target = String(decoding: bytes, as: UTF8.self)
    let parts = target.utf8.split(
      separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let dialect = Problem.Dialect(path: String(Substring(parts[0])))
    guard (try? RequestTarget.check(target, in: dialect)) != nil else { return }
    let isCouch = dialect == .couch
    for segment in parts[0].split(separator: UInt8(ascii: "/")) {
      let written = String(decoding: Array(segment), as: UTF8.self)
      claim(written != "." && written != "..", "no written dot segments")
      checkSegment(Array(segment), mayBeDots: isCouch)
    }
    claim(!target.utf8.contains { $0 <= 0x20 || $0 >= 0x7F }, "a checked target is printable ASCII")
    guard parts.count == 2 else { return }
    checkQuery(String(Substring(parts[1])))
  }

  private static func checkSegment(_ segment: [UInt8], mayBeDots: Bool) {
    guard let text = attempt({ try RequestTarget.decode(segment, what: "x") }) else {
      claim(false, "each segment of a checked path decodes")
      return
    }
    claim(mayBeDots || text != "." && text != "..", "no dot segments")
    claim(!text.utf8.contains(0), "no NUL")
    let again = attempt { try RequestTarget.decode(encoded(text), what: "x") }
    claim(
      again.map { Array($0.utf8) } == Array(text.utf8), "encoding and decoding give the same bytes")
  }

  private static func checkQuery(_ query: String) {
    guard let parameters = try? QueryParameters(query, known: known) else { return }
    for name in known {
      guard let value = parameters[name] else { continue }
      claim(!value.utf8.contains(0), "no NUL in a value")
      let text = encoded(name) + [UInt8(ascii: "=")] + encoded(value)
      let again = try? QueryParameters(String(decoding: text, as: UTF8.self), known: known)
      claim(again?[name].map { Array($0.utf8) } == Array(value.utf8), "a value comes back")
    }
    if let limit = attempt({ try parameters.int("limit", in: 1...100, default: 20) }) {
      claim((1...100).contains(limit), "a number within its bounds")
    }
  }

  private static func encoded(_ text: String) -> [UInt8] {
    let digits = Array("0123456789abcdefABCDEF".utf8)
    return text.utf8.flatMap { byte in
      [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }
}
