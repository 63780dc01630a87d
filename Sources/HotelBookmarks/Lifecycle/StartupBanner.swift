import Accounts
import Documents
import Scheduling

/// The text that a person sees when the server has started.
enum StartupBanner {
  /// Shows lines, and returns when they are written. A separate thread does it, because standard output may be a pipe
  /// that no process reads.
  static func show(_ text: String, _ announce: @escaping @Sendable (String) -> Void) async {
    await ThreadPool.with(name: "banner") { threads in await threads.run { announce(text) } }
  }

  /// The addresses that mean all addresses of this machine, and the loopback address for each.
  private static let everywhere = ["0.0.0.0": "127.0.0.1", "::": "::1"]

  /// - Returns: a URL; with a loopback address if the server listens at all addresses.
  private static func url(of settings: Settings, port: Int, scheme: String) -> String {
    let host = everywhere[settings.hostname] ?? settings.hostname
    return "\(scheme)://\(host.contains(":") ? "[\(host)]" : host):\(port)"
  }

  private static func url(of settings: Settings, port: Int) -> String {
    settings.publicURL ?? ownURL(of: settings, port: port)
  }

  /// The URL at this machine, whatever the public one is.
  private static func ownURL(of settings: Settings, port: Int) -> String {
    let scheme = settings.tlsCertificateFile == nil ? "http" : "https"
    return url(of: settings, port: port, scheme: scheme)
  }

  /// What is missing at a public URL with a path: files and links of the pages begin at the root. Nil without a path.
  private static func missing(at settings: Settings) -> String? {
    guard let url = settings.publicURL, url.split(separator: "/").count > 2 else { return nil }
    return "no web page, /docs and /admin: they need a public URL without a path"
  }

  /// The banner as a line of JSON, in the form of log lines.
  /// - Parameter now: the time of the line.
  static func json(
    _ settings: Settings, port: Int, operationsPort: Int? = nil, couchPort: Int? = nil,
    password: Secret? = nil, now: Timestamp
  ) -> String {
    let url = url(of: settings, port: port)
    let bytes = JSONWriter.object { writer in
      writer.member("time", now.rfc3339)
      writer.member("level", "notice")
      writer.member("logger", "hotel-bookmarks")
      writer.member("message", "Hotel Bookmarks \(Version.current) at \(url) is up")
      writer.member("url", url)
      writer.member("data", settings.data)
      writer.member("upstream", settings.upstreams.map(\.name).joined(separator: ", then "))
      if let operationsPort {
        writer.member("operations", Self.url(of: settings, port: operationsPort, scheme: "http"))
      }
      if let couchPort { writer.member("couch", Self.ownURL(of: settings, port: couchPort)) }
      if let missing = missing(at: settings) { writer.member("missing", missing) }
      if let password {
        writer.member("administrator", settings.adminName)
        writer.member("password", password.exposed)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The banner for people.
  /// - Parameter operationsPort: the operators' own port; nil for none.
  /// - Parameter couchPort: the port that has `/couch` at its root; nil for none.
  /// - Parameter password: the administrator's password, if it was made at this start. It is shown only here.
  static func text(
    _ settings: Settings, port: Int, operationsPort: Int? = nil, couchPort: Int? = nil,
    password: Secret? = nil
  ) -> String {
    let url = url(of: settings, port: port)
    let upstream = settings.upstreams.map(\.name).joined(separator: ", then ")
    let administrator = password.map { password in
      """
      administrator: \(settings.adminName), password: \(password.exposed)
        It is not shown again. To set a new one: hotel-bookmarks admin reset-password --data \(settings.data)

      """
    }
    let operations = operationsPort.map {
      "operations at \(Self.url(of: settings, port: $0, scheme: "http"))\n"
    }
    let couch = couchPort.map { "CouchDB's API at \(Self.ownURL(of: settings, port: $0))\n" }
    let missing = missing(at: settings).map { $0 + "\n" }
    return """
      Hotel Bookmarks \(Version.current) at \(url)
      data in \(settings.data), hotels from \(upstream)
      \(missing ?? "")\(operations ?? "")\(couch ?? "")\(administrator ?? "")\
      Try it:
        TOKEN=$(curl -s -X POST \(url)/v1/guests | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
        HOTEL=$(curl -s "\(url)/v1/hotels?description=pool&limit=1" | sed 's/.*"hotels":\\[{"id":"\\([^"]*\\)".*/\\1/')
        curl -s -X PUT \(url)/v1/bookmarks/$HOTEL -H "Authorization: Bearer $TOKEN"
      """
  }
}
