import Glibc
package import HTTPTypes
import Synchronization

/// The `Date` of answers, put into words once a second.
///
/// Source: RFC 9110, section 5.6.7.
package final class DateField: Sendable {
  private let clock: @Sendable () -> Int
  private let latest = Mutex((second: Int.min, field: HTTPField(name: .date, value: "")))

  /// - Parameter clock: seconds since 1970, UTC.
  package init(clock: @escaping @Sendable () -> Int = { time(nil) }) { self.clock = clock }

  /// The field as it is now.
  package var now: HTTPField {
    let second = clock()
    return latest.withLock { latest in
      if latest.second != second {
        latest = (second, HTTPField(name: .date, value: Self.text(second)))
      }
      return latest.field
    }
  }

  private static func text(_ second: Int) -> String {
    var (second, parts) = (second, tm())
    gmtime_r(&second, &parts)
    func digits(_ number: Int32) -> String { (number < 10 ? "0" : "") + String(number) }
    let day = days[Int(parts.tm_wday) % days.count]
    let month = months[Int(parts.tm_mon) % months.count]
    return "\(day), \(digits(parts.tm_mday)) \(month) \(1900 + parts.tm_year) "
      + "\(digits(parts.tm_hour)):\(digits(parts.tm_min)):\(digits(parts.tm_sec)) GMT"
  }

  private static let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]
}
