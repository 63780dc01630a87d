package import Documents
import Stores

/// The first and the last day of a trip, by the calendar of the place, as `2026-05-01`. Either may be open.
package struct TripDates: Sendable, Equatable {
  package let from: String?
  package let to: String?

  /// No days.
  init() { (from, to) = (nil, nil) }

  /// Reads the members `from` and `to` of a list's document. null counts as absent.
  /// - Throws: `invalidDocument` for anything but days, and for a trip that ends before it begins.
  init(of document: JSONObject) throws {
    (from, to) = (try Self.day("from", of: document), try Self.day("to", of: document))
    if let from, let to, to.precedesBytes(of: from) {
      throw ServiceError(
        .invalidDocument, "A trip does not end before it begins: to is before from")
    }
  }

  private static func day(_ name: String, of document: JSONObject) throws -> String? {
    guard let value = document[name], value != .null else { return nil }
    // Ten bytes before the time of day are year, month and day of a real date.
    guard let text = value.string, text.utf8.count == 10,
      Timestamp(rfc3339: text + "T00:00:00Z") != nil
    else { throw ServiceError(.invalidDocument, "\(name) must be a day as in 2026-05-01") }
    return text
  }
}

/// Which days of a trip a member sets: `from`, `to` or both. null removes one.
package struct TripChange: Sendable {
  private let days: JSONObject

  package init(_ days: JSONObject = [:]) { self.days = days }

  package var isEmpty: Bool { days.isEmpty }

  /// Writes the days to a list's document.
  /// - Throws: as ``TripDates/init(of:)``, also if only the other day makes them wrong.
  func apply(to document: inout JSONObject) throws {
    guard !isEmpty else { return }
    // A conditional expression would store null: nil is a value of JSON there.
    for (name, value) in days.members {
      if value == .null { document[name] = nil } else { document[name] = value }
    }
    _ = try TripDates(of: document)
  }
}
