import Documents
import Hotels

/// A row of a travel-sample answer, as this service keeps it.
enum TravelSampleRow {
  /// The hotel that a row describes: its fields as they came, but those that are null or `"None"`
  /// (what Python's `str` makes of a missing value) left out, and its `id` as a string in its one
  /// spelling.
  ///
  /// Nil for a row that is no object, says nothing, or has an id that names no document.
  static func hotel(_ row: JSONNode) -> Hotel? {
    guard row.kind == .object else { return nil }
    var bytes = [UInt8(ascii: "{")]
    for member in row.members where saysSomething(member.value) {
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      bytes += member.rawName
      bytes.append(UInt8(ascii: ":"))
      append(member, to: &bytes)
    }
    guard bytes.count > 1 else { return nil }
    bytes.append(UInt8(ascii: "}"))
    // What is left of a parsed object parses again; what is too large for a document is refused
    // here.
    guard let tidy = try? ParsedJSON(bytes, limits: .document) else { return nil }
    return try? Hotel(tidy.root, from: .upstream)
  }

  private static func saysSomething(_ value: JSONNode) -> Bool {
    !value.isNull && !value.stringEquals("None")
  }

  private static func append(_ member: JSONMember, to bytes: inout [UInt8]) {
    guard member.nameEquals("id"), let id = canonicalID(member.value) else {
      member.value.appendMinified(to: &bytes)
      return
    }
    JSONWriter.appendString(id, to: &bytes)
  }

  private static func canonicalID(_ value: JSONNode) -> String? {
    if let number = value.int, number >= 0 { return "hotel_\(number)" }
    return value.string.map(Hotel.canonical)
  }
}
