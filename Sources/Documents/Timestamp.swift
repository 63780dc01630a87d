/// A moment in UTC, in whole milliseconds since 1970. Rules get the time as a parameter; they never read a
/// clock.
package struct Timestamp: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z, without leap seconds.
  package let milliseconds: Int64

  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// A moment from whole seconds. A value outside the range becomes the nearest possible moment.
  package init(seconds: Int64) {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
  }

  package static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The moment this many seconds later; earlier for a negative number.
  package func adding(seconds: Int64) -> Timestamp {
    let span = Timestamp(seconds: seconds).milliseconds
    let (sum, overflow) = milliseconds.addingReportingOverflow(span)
    return Timestamp(milliseconds: overflow ? (span < 0 ? .min : .max) : sum)
  }

  /// Whole seconds since 1970, rounded down.
  package var seconds: Int64 { milliseconds.floored(by: 1_000) }

  /// Whole days since 1970, rounded down.
  package var day: Int { Int(clamping: seconds.floored(by: 86_400)) }

  /// RFC 3339 in UTC with milliseconds, `2026-11-21T02:09:00.000Z`. Moments outside the years 0 to 9999
  /// become the nearest moment in them.
  package var rfc3339: String { text(showingMilliseconds: true) }

  /// The same in whole seconds, rounded down, as CouchDB writes it: `2026-11-21T02:09:00Z`.
  package var rfc3339Seconds: String { text(showingMilliseconds: false) }

  private func text(showingMilliseconds: Bool) -> String {
    let clipped = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
    let day = Timestamp(milliseconds: clipped).seconds.floored(by: 86_400)
    let inDay = clipped - day * 86_400_000
    let date = Self.civil(day)
    let (second, millisecond) = (inDay / 1_000, inDay % 1_000)
    return [
      Self.digits(date.year, 4), "-", Self.digits(date.month, 2), "-", Self.digits(date.day, 2),
      "T",
      Self.digits(second / 3_600, 2), ":", Self.digits(second / 60 % 60, 2), ":",
      Self.digits(second % 60, 2),
      showingMilliseconds ? "." + Self.digits(millisecond, 3) : "", "Z",
    ].joined()
  }

  /// Reads RFC 3339, for example `2026-11-21T02:09:00Z` or `2026-11-21T02:09:00.25+01:00`. Digits after the
  /// milliseconds are dropped. A leap second counts as the next second.
  /// - Returns: nil for any other text, and for a day that the month does not have.
  package init?(rfc3339 text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= 20, bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[10] | 0x20 == 0x74,
      bytes[13] == 0x3A, bytes[16] == 0x3A, let year = Self.number(bytes[0..<4]),
      let month = Self.number(bytes[5..<7]), let day = Self.number(bytes[8..<10]),
      let hour = Self.number(bytes[11..<13]), let minute = Self.number(bytes[14..<16]),
      let second = Self.number(bytes[17..<19]), (1...12).contains(month), day >= 1, hour < 24,
      minute < 60, second <= 60
    else { return nil }
    var rest = bytes[19...]
    var fraction: [UInt8] = []
    if rest.first == 0x2E {
      fraction = Array(rest.dropFirst().prefix { (0x30...0x39).contains($0) })
      guard !fraction.isEmpty else { return nil }
      rest = rest.dropFirst(fraction.count + 1)
    }
    guard let offset = Self.offset(rest) else { return nil }
    let milliseconds = Self.number((fraction + [0x30, 0x30, 0x30]).prefix(3)) ?? 0
    let days = Self.dayNumber(year, month, day)
    guard Self.civil(days) == (year, month, day) else { return nil }
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second - offset
    self.init(milliseconds: seconds * 1_000 + milliseconds)
  }

  /// The seconds by which a zone (`Z`, `+01:00`) is ahead of UTC.
  private static func offset(_ zone: ArraySlice<UInt8>) -> Int64? {
    let bytes = Array(zone)
    if bytes.count == 1 { return bytes[0] | 0x20 == 0x7A ? 0 : nil }
    guard bytes.count == 6, bytes[3] == 0x3A, bytes[0] == 0x2B || bytes[0] == 0x2D,
      let hours = number(bytes[1..<3]), let minutes = number(bytes[4..<6]), hours < 24, minutes < 60
    else { return nil }
    return (bytes[0] == 0x2D ? -1 : 1) * (hours * 3_600 + minutes * 60)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return digits.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  /// The day number of a proleptic Gregorian date, 0 being 1970-01-01.
  /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
  private static func dayNumber(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.floored(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func digits(_ value: Int64, _ width: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
  }

  /// The proleptic Gregorian date of a day number, 0 being 1970-01-01.
  /// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
  private static func civil(_ day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = day + 719_468
    let era = shifted.floored(by: 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}

extension Int64 {
  fileprivate func floored(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
