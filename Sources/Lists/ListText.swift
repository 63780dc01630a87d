import Stores

/// The rules for texts that people write.
enum ListText {
  /// A title: 1 to ``ListLimits/titleBytes`` bytes on one line, without control characters and not only white
  /// space.
  /// - Throws: `invalidDocument`.
  static func title(_ text: String) throws -> String {
    guard (1...ListLimits.titleBytes).contains(text.utf8.count),
      text.unicodeScalars.contains(where: { !$0.properties.isWhitespace }),
      !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
      throw ServiceError(
        .invalidDocument,
        "A title has 1 to \(ListLimits.titleBytes) bytes on one line, not all of them spaces")
    }
    return text
  }

  /// A text in markdown: at most ``ListLimits/markdownBytes`` bytes.
  /// - Throws: `documentTooLarge`.
  static func markdown(_ text: String) throws -> String {
    guard text.utf8.count <= ListLimits.markdownBytes else {
      throw ServiceError(.documentTooLarge, "A text has at most \(ListLimits.markdownBytes) bytes")
    }
    return text
  }
}
