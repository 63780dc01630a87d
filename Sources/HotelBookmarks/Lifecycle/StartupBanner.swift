import Accounts
import Lanes
import SQLite

/// What a person sees when the server is up; shown on a thread of its own, for standard output may be a pipe
/// that nobody reads.
actor StartupBanner {
  private let lane = Lane(name: "banner")

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Shows lines; returns when they are written.
  func show(_ text: String, _ announce: @Sendable (String) -> Void) { announce(text) }

  /// - Parameter operationsPort: the operators' own port; nil for none.
  /// - Parameter password: the administrator's, where it was drawn at this start: the one place that shows it.
  static func text(
    _ settings: Settings, port: Int, operationsPort: Int? = nil, password: Secret? = nil
  ) -> String {
    let host = settings.hostname.contains(":") ? "[\(settings.hostname)]" : settings.hostname
    let scheme = settings.tlsCertificateFile == nil ? "http" : "https"
    let url = settings.publicURL ?? "\(scheme)://\(host):\(port)"
    let upstream = settings.upstreams.map(\.name).joined(separator: ", then ")
    let administrator = password.map { password in
      """
      administrator: \(settings.adminName), password: \(password.exposed)
        It is shown this once. For another: hotel-bookmarks admin reset-password --data \(settings.data)

      """
    }
    let operations = operationsPort.map { "operations at http://\(host):\($0)\n" }
    return """
      Hotel Bookmarks \(Version.current) at \(url)
      data in \(settings.data), hotels from \(upstream)
      \(operations ?? "")\(administrator ?? "")\
      Try it:
        TOKEN=$(curl -s -X POST \(url)/v1/guests | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
        curl -s "\(url)/v1/hotels?description=pool&location=san+francisco" -H "Authorization: Bearer $TOKEN"
        curl -s -X PUT \(url)/v1/bookmarks/hotel_25510 -H "Authorization: Bearer $TOKEN"
      """
  }
}
