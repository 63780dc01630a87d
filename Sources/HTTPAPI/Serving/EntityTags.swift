import Documents
import HTTPTypes
import Hummingbird

/// The entity tags of a conditional request's field.
///
/// Source: RFC 9110, sections 8.8.3, 13.1.1 and 13.1.2.
struct EntityTags: Sendable {
  /// Whether the field is `*`.
  let isAny: Bool
  /// The tags' texts without quotes, weak ones left out where a strong comparison is asked for.
  let tags: [String]

  /// Reads a field; nil when it is absent.
  /// - Parameter strong: whether weak tags must not match (`If-Match`).
  /// - Throws: ``Problem`` 400 for anything but `*` or a list of quoted tags.
  init?(_ call: Call, _ name: HTTPField.Name, strong: Bool) throws(Problem) {
    guard let field = call[name] else { return nil }
    let text = field.trimmingSpaces
    if text == "*" {
      isAny = true
      tags = []
      return
    }
    var tags: [String] = []
    for part in text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      var tag = String(decoding: part, as: UTF8.self).trimmingSpaces.utf8[...]
      let isWeak = tag.starts(with: "W/".utf8)
      if isWeak { tag = tag.dropFirst(2) }
      guard tag.count >= 2, tag.first == UInt8(ascii: "\""), tag.last == UInt8(ascii: "\""),
        !tag.dropFirst().dropLast().contains(UInt8(ascii: "\""))
      else {
        throw Problem(
          .badRequest, "invalid_header", "\(name.canonicalName) must be * or quoted entity tags")
      }
      if !(isWeak && strong) {
        tags.append(String(decoding: tag.dropFirst().dropLast(), as: UTF8.self))
      }
    }
    isAny = false
    self.tags = tags
  }

  /// Whether a strong tag (without quotes) is among them.
  func matches(_ tag: String) -> Bool {
    isAny || tags.contains { $0.equalsBytes(of: tag) }
  }
}
