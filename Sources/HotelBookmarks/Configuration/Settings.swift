package import Accounts
package import HTTPAPI
package import HTTPServer
import Hotels
package import IPAddresses
package import Logging
import SearchProxy

package struct Settings: Sendable, Equatable {
  package enum LogFormat: String, Sendable, CaseIterable {
    /// A line of text.
    case text
    /// One JSON object per line.
    case json
  }

  /// The address to listen at.
  package var hostname = "127.0.0.1"
  /// The TCP port; 0 for any free port.
  package var port = 8080
  /// The TCP port for operators' requests only; 0 for any free port, nil for none.
  package var operationsPort: Int?
  /// The TCP port that has `/couch` at its root; 0 for any free port, nil for none.
  package var couchPort: Int?
  /// The data directory. It is created if it is absent, and readable only by its owner.
  package var data = "hotel-bookmarks-data"
  /// Where the stores are instead of in the data directory: a `postgres://` URL; nil for files.
  package var database: String?
  /// A file with the database's password; nil for none.
  package var databasePasswordFile: String?
  /// Connections to the database, at most.
  package var databaseConnections = 16
  /// The upstreams that answer searches, the preferred one first.
  package var upstreams = [UpstreamSetting.embedded]
  /// A file with the names and passwords for search engines; nil for none.
  package var upstreamCredentialsFile: String?
  /// The only networks of upstreams; empty for the default of ``AddressRule``.
  package var upstreamNetworks: [CIDRBlock] = []
  /// A PEM file of certificate authorities that are trusted for upstreams besides the system's; nil for none.
  package var upstreamCAFile: String?
  /// How long a search may take at all upstreams together, in milliseconds.
  package var upstreamMilliseconds = UpstreamTimeouts.standardMilliseconds
  /// How long a search of the own catalogue or of bookmarks may take, in milliseconds.
  package var searchMilliseconds = HotelQuery.maximumMilliseconds
  /// The URL by which clients reach the server, without a slash at the end; nil for each request's own.
  package var publicURL: String?
  /// Origins whose pages may call with credentials.
  package var origins: [String] = []
  /// The proxies whose `X-Forwarded` fields are believed.
  package var trustedProxies = TrustedProxies()
  /// A PEM file with the server's certificate and its intermediate certificates; nil for a server without TLS.
  package var tlsCertificateFile: String?
  /// A PEM file with the certificate's key.
  package var tlsKeyFile: String?
  /// Connections at once; nil for a number that depends on the limit of file descriptors.
  package var connections: Int?
  /// Connections at once from one address; nil for the default, which does not count those from this machine.
  package var connectionsPerAddress: Int?
  /// Requests that are answered at once, at most.
  package var requestsAtOnce = RequestLimits.requestsAtOnce
  /// How long work may wait for a processor before fewer requests are answered at once, in milliseconds.
  package var overloadMilliseconds = Admission.goodMilliseconds
  /// Seconds from the last byte of a request to the first byte of its answer.
  package var requestSeconds = RequestLimits.requestSeconds
  /// The processor time that a request may cost, in milliseconds.
  package var requestProcessorMilliseconds = ConnectionCaps().requestProcessorMilliseconds
  /// Guests that one address may create in an hour.
  package var guestsPerHour = 6_000
  /// The limits that `GET /v1/limits` shows.
  package var limits = SetLimits()
  /// The issuers whose ID tokens are exchanged for the server's own tokens.
  package var issuers: [TrustedIssuer] = []
  /// The only networks of issuers; empty for the default of ``AddressRule``.
  package var issuerNetworks: [CIDRBlock] = []
  /// The only networks that replications connect to; empty for public addresses.
  package var replicationNetworks: [CIDRBlock] = []
  /// Stores open at once, at most; nil for a number that depends on the limit of file descriptors.
  package var openStores: Int?
  /// The directory for backups at regular times; nil for no such backups.
  package var backups: String?
  /// The seconds from one regular backup to the next.
  package var backupSeconds: Int64 = 86_400
  /// How many backups are kept there.
  package var backupKeep = 7
  /// What the audit log records.
  package var audit = AuditLog.Mode.off
  package var adminName = Administrator.standardName
  /// A file with the administrator's password; nil for a random one that is made at the first start.
  package var adminPasswordFile: String?
  /// The least severe level that is logged.
  package var logLevel = Logger.Level.info
  package var logFormat = LogFormat.text
  /// Whether answers show their cost. This is for measurements, because every client may read it.
  package var showsCost = false
  /// How many seconds the server continues to answer after the signal to stop, while `/readyz` reports the stop.
  package var drainSeconds = 0

  package init() {}

  /// Reads the URL of a server, to which paths are added.
  /// - Parameter name: what the person calls it.
  /// - Returns: the URL without a slash at its end.
  package static func serverURL(_ text: String, of name: String) throws(SettingsError) -> String {
    guard let url = WebOrigin(url: text),
      url.text.hasPrefix("http://") || url.text.hasPrefix("https://")
    else {
      throw SettingsError(
        "\(name) must be a URL such as https://hotels.example, with or without a path, not \(text)"
      )
    }
    return url.text + url.path
  }
}

/// A setting or a place that can't be used. The description names it, and its allowed values or what to do.
package struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One line for the person who starts the server.
  package let description: String

  package init(_ description: String) { self.description = description }
}
