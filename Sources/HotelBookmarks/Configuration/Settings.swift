package import Accounts
package import HTTPServer
package import IPAddresses
package import Logging
import SearchProxy
package import Stores

/// How a server is to run.
package struct Settings: Sendable, Equatable {
  /// How log lines are written.
  package enum LogFormat: String, Sendable, CaseIterable {
    /// A line of words.
    case text
    /// A JSON object a line.
    case json
  }

  /// The address to listen at.
  package var hostname = "127.0.0.1"
  /// The TCP port; 0 for one that is free.
  package var port = 8080
  /// The TCP port for what operators ask, and nothing else; 0 for one that is free, nil for none.
  package var operationsPort: Int?
  /// The data directory; made if absent, readable by its owner alone.
  package var data = "hotel-bookmarks-data"
  /// Which upstreams answer searches, the preferred one first.
  package var upstreams = [UpstreamSetting.embedded]
  /// A file with the names and passwords of search engines; nil for none.
  package var upstreamCredentialsFile: String?
  /// The only networks that upstreams may be in; empty to go by ``AddressRule``'s own.
  package var upstreamNetworks: [CIDRBlock] = []
  /// A PEM file of authorities whose certificates upstreams may show besides the system's; nil for none.
  package var upstreamCAFile: String?
  /// The URL that clients reach the server by, without a slash at its end; nil to take each request's own.
  package var publicURL: String?
  /// Origins whose pages may call with credentials.
  package var origins: [String] = []
  /// Where the proxies are whose `X-Forwarded-For` is taken.
  package var trustedProxies = TrustedProxies()
  /// A PEM file with the server's certificate and those that it was signed with; nil to serve without TLS.
  package var tlsCertificateFile: String?
  /// A PEM file with the certificate's key.
  package var tlsKeyFile: String?
  /// Connections at once; nil to go by the limit on file descriptors.
  package var connections: Int?
  /// Connections at once from one address; nil for the usual number, this machine's own not counted.
  package var connectionsPerAddress: Int?
  /// Requests that are answered at once, at most.
  package var requestsAtOnce = RequestLimits.requestsAtOnce
  /// Guests that one address may make in an hour.
  package var guestsPerHour = 6_000
  /// Whose ID tokens are exchanged for the server's own.
  package var issuers: [TrustedIssuer] = []
  /// The only networks that issuers may be in; empty to go by ``AddressRule``'s own.
  package var issuerNetworks: [CIDRBlock] = []
  /// Stores open at once at most; nil to go by the limit on file descriptors.
  package var openStores: Int?
  /// What the administrator's databases take.
  package var databases = StoreLimits.database
  /// After how many days people's own stores and lists forget what was deleted.
  package var tombstoneDays = 90
  /// The administrator's name.
  package var adminName = Administrator.standardName
  /// A file with the administrator's password; nil for one that is drawn at the first start.
  package var adminPasswordFile: String?
  /// The least severe level that is logged.
  package var logLevel = Logger.Level.info
  /// How log lines are written.
  package var logFormat = LogFormat.text
  /// Whether answers say what they cost, for measurements: anybody may read it.
  package var showsCost = false
  /// For how many seconds the server goes on answering after it was told to stop, while `/readyz` says that it stops.
  package var drainSeconds = 0

  /// The defaults.
  package init() {}
}

/// A setting that can't be used; the reason names it and says what it may be.
package struct SettingsError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One line for the person who starts the server.
  package let description: String

  /// A refusal in words.
  package init(description: String) { self.description = description }
}
