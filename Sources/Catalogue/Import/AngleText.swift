import Documents

/// One number of a position in a text, with what it says about itself: `6.84 E`, `Lat: 46.45`.
struct AngleText {
  enum Axis { case latitude, longitude }

  /// Nil if the text does not say which one it is.
  let axis: Axis?
  /// The text without its label.
  let degrees: String

  /// The two numbers of a text that has only spaces between them, and also within: `N48° 52.080 E002° 19.740`,
  /// `48° 51' 24" N 2° 21' 8" E`; nil for another text.
  static func halves(of text: String) -> (String, String)? {
    guard text.utf8.count <= longest, !text.contains(where: { ",;/|".contains($0) }),
      text.filter(\.isLetter).count == 2, let first = text.firstIndex(where: { "NS".contains($0) }),
      let second = text.firstIndex(where: { "EWO".contains($0) }), first < second
    else { return nil }
    let end = first == text.startIndex ? second : text.index(after: first)
    return (String(text[..<end]).trimmed, String(text[end...]).trimmed)
  }

  /// The most bytes of two numbers with their signs.
  private static let longest = 80

  init(_ text: String) {
    let label = text.prefix { $0.isLetter }
    let rest = text.dropFirst(label.count).drop { ":= ".contains($0) }
    switch HotelAliases.match(label.utf8)?.meaning {
    case .latitude where label.count > 1: (axis, degrees) = (.latitude, String(rest))
    case .longitude where label.count > 1: (axis, degrees) = (.longitude, String(rest))
    default:
      let letters = text.filter { "NSEWO".contains($0) }
      axis = letters.count == 1 ? "NS".contains(letters) ? .latitude : .longitude : nil
      degrees = text
    }
  }
}

/// An address with the position at its end, as Socrata's tables have it: `12 quai, Vevey (46.4586, 6.8437)`.
/// <https://dev.socrata.com/docs/datatypes/location.html>
struct LocatedAddress {
  let address: String
  /// The two numbers, the latitude first.
  let position: String

  init?(_ text: String) {
    guard text.hasSuffix(")"), let open = text.lastIndex(of: "(") else { return nil }
    address = String(text[..<open]).trimmed
    position = String(text[open...].dropFirst().dropLast())
    let numbers = position.split(separator: ",").map { Double(String($0).trimmed) }
    guard !address.isEmpty, HotelAliases.match(address.utf8)?.meaning != .position,
      numbers.count == 2, numbers.allSatisfy({ $0 != nil }),
      position.contains("."), PositionForms.point(.string(position)) != nil
    else { return nil }
  }
}
