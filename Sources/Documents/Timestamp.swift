/// A moment in UTC, in whole milliseconds since 1970. Rules are given one; they never ask a clock.
package struct Timestamp: Sendable, Hashable, Comparable {
  /// Milliseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
  package let milliseconds: Int64

  /// A moment from its milliseconds.
  package init(milliseconds: Int64) { self.milliseconds = milliseconds }

  /// A moment from whole seconds; what does not fit is the furthest moment there is.
  package init(seconds: Int64) {
    let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
    milliseconds = overflow ? (seconds < 0 ? .min : .max) : product
  }

  package static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }

  /// The moment so many seconds later (or earlier).
  package func adding(seconds: Int64) -> Timestamp {
    let span = Timestamp(seconds: seconds).milliseconds
    let (sum, overflow) = milliseconds.addingReportingOverflow(span)
    return Timestamp(milliseconds: overflow ? (span < 0 ? .min : .max) : sum)
  }

  /// Whole seconds since 1970, rounded down.
  package var seconds: Int64 {
    milliseconds.floored(by: 1_000)
  }

  /// Whole days since 1970, rounded down.
  package var day: Int { Int(clamping: seconds.floored(by: 86_400)) }

  /// RFC 3339 in UTC with milliseconds, `2026-11-21T02:09:00.000Z`; years 0 to 9999, others
  /// clipped.
  package var rfc3339: String {
    let clipped = min(max(milliseconds, -62_167_219_200_000), 253_402_300_799_999)
    let day = Timestamp(milliseconds: clipped).seconds.floored(by: 86_400)
    let inDay = clipped - day * 86_400_000
    let date = Self.civil(day)
    let (second, millisecond) = (inDay / 1_000, inDay % 1_000)
    return [
      Self.digits(date.year, 4), "-", Self.digits(date.month, 2), "-", Self.digits(date.day, 2),
      "T",
      Self.digits(second / 3_600, 2), ":", Self.digits(second / 60 % 60, 2), ":",
      Self.digits(second % 60, 2), ".", Self.digits(millisecond, 3), "Z",
    ].joined()
  }

  /// Reads what ``rfc3339`` writes, and no other text: UTC, milliseconds, years 0 to 9999.
  package init?(rfc3339 text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count == 24 else { return nil }
    func number(_ range: Range<Int>) -> Int64? {
      bytes[range].reduce(Int64?(0)) { sum, byte in
        guard let sum, (0x30...0x39).contains(byte) else { return nil }
        return sum * 10 + Int64(byte - 0x30)
      }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10),
      let hour = number(11..<13), let minute = number(14..<16), let second = number(17..<19),
      let millisecond = number(20..<23), (1...12).contains(month)
    else { return nil }
    let seconds = Self.day(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
    milliseconds = seconds * 1_000 + millisecond
    // What is out of its range, as a second 60, is written otherwise.
    guard rfc3339.equalsBytes(of: text) else { return nil }
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
    let yearOfEra =
      (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }

  /// The day number of a proleptic Gregorian date, 0 being 1970-01-01.
  /// Source: the same, days_from_civil.
  private static func day(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted.floored(by: 400)
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}

extension Int64 {
  fileprivate func floored(by divisor: Int64) -> Int64 {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? quotient - 1 : quotient
  }
}
