/// The languages that a client prefers.
///
/// Source: RFC 9110, section 12.5.4.
enum LanguagePreference {
  /// The most languages of a field that are read.
  private static let most = 32

  /// The language among some that a field `Accept-Language` prefers; nil if it names none of them. Regions are ignored:
  /// `de-AT` is `de`.
  static func first(of known: [String], in field: String?) -> String? {
    var best: (language: String, quality: Double)?
    for range in (field ?? "").utf8.split(separator: UInt8(ascii: ",")).prefix(most) {
      let parts = range.split(separator: UInt8(ascii: ";")).map {
        String(decoding: $0, as: UTF8.self).trimmingSpaces.lowercased()
      }
      let language = parts.first?.utf8.prefix { $0 != UInt8(ascii: "-") } ?? ""[...].utf8
      let weight = parts.dropFirst().first { $0.utf8.starts(with: "q=".utf8) }
      let quality = weight.map { Double($0.dropFirst(2)) ?? 0 } ?? 1
      guard let found = known.first(where: { $0.utf8.elementsEqual(language) }),
        quality > best?.quality ?? 0
      else { continue }
      best = (found, quality)
    }
    return best?.language
  }
}
