import Documents
import Hotels

/// The content of a travel-sample answer: `{"data":[…]}`. In the second generation it also has a `context`, which
/// describes the query for people and is not used here.
struct TravelSampleAnswer: Sendable {
  /// The hotels, in the order of the rows, each id once.
  let hotels: [Hotel]
  /// Rows that are not valid hotels.
  let skippedRows: Int
}

extension TravelSampleAnswer {
  /// Reads an answer's content. `data` that is null or absent means no rows.
  /// - Throws: ``SearchError`` with code `badAnswer` for an answer that reports an error, has no part of a search
  ///   answer, or has rows but not one valid hotel.
  init(_ bytes: [UInt8], limits: JSONLimits) throws(SearchError) {
    let root = try UpstreamAnswer.object(bytes, limits)
    guard let data = root["data"], !data.isNull else {
      if let fault = Self.fault(of: root) { throw .badAnswer(fault) }
      self.init(hotels: [], skippedRows: 0)
      return
    }
    guard data.kind == .array else { throw .badAnswer("data is not an array") }
    try self.init(rows: data)
  }

  private init(rows: JSONNode) throws(SearchError) {
    var hotels: [Hotel] = []
    hotels.reserveCapacity(rows.count)
    var seen: Set<HotelID> = []
    var skipped = 0
    for row in rows.elements {
      guard let hotel = TravelSampleRow.hotel(row) else {
        skipped += 1
        continue
      }
      if seen.insert(hotel.id).inserted { hotels.append(hotel) }
    }
    if hotels.isEmpty, skipped > 0 { throw .badAnswer("none of \(skipped) rows is a hotel") }
    self.init(hotels: hotels, skippedRows: skipped)
  }

  /// Why an object without rows is not an answer to a search; nil if it is one.
  private static func fault(of root: JSONNode) -> String? {
    for name in ["error", "errors", "failure", "exception"] {
      if let value = root[name], !value.isNull { return "the answer is an error" }
    }
    // Some serialisers drop nulls, so null rows become `{}`.
    guard root.count == 0 || root["data"] != nil || root["context"] != nil else {
      return "the answer has neither data nor context"
    }
    return nil
  }
}

/// Converts the rows of a travel-sample answer.
enum TravelSampleRow {
  /// The hotel of a row. Its fields are kept, except those that are null or `"None"` (Python's `str` of a missing
  /// value). Its `id` becomes a string in the canonical spelling.
  ///
  /// Nil for a row that is not an object, has no usable fields, or has an id that can't be a document's id.
  static func hotel(_ row: JSONNode) -> Hotel? {
    guard row.kind == .object else { return nil }
    let bytes = JSONWriter.object { writer in
      for member in row.members where hasContent(member.value) {
        if member.nameEquals("id"), let id = canonicalID(member.value) {
          writer.member("id", id)
        } else {
          writer.member(member)
        }
      }
    }
    guard bytes.count > 2 else { return nil }
    // The remaining object is valid JSON. Parsing fails only when it is too large for a document.
    guard let tidy = try? ParsedJSON(bytes, limits: .document) else { return nil }
    return try? Hotel(tidy.root, from: .upstream)
  }

  private static func hasContent(_ value: JSONNode) -> Bool {
    !value.isNull && !value.stringEquals("None")
  }

  private static func canonicalID(_ value: JSONNode) -> String? {
    if let number = value.int, number >= 0 { return "hotel_\(number)" }
    return value.string.map(Hotel.canonical)
  }
}
