/// The names of all settings, as in a configuration file. A flag has the name in kebab case, the environment has it in
/// upper snake case after `HOTEL_BOOKMARKS_`. With an unknown name the server does not start.
package enum SettingKey: String, CaseIterable, Sendable {
  case hostname, port, operationsPort, couchPort
  case data, database, databasePasswordFile, databaseConnections
  case upstream, upstreamCredentialsFile, upstreamNetworks
  case upstreamCAFile = "upstreamCaFile"
  case upstreamMilliseconds, searchMilliseconds
  case publicURL = "publicUrl"
  case origins, trustedProxies, tlsCertificateFile, tlsKeyFile
  case connections, connectionsPerAddress, requestsAtOnce, overloadMilliseconds
  case requestSeconds, requestProcessorMilliseconds
  case guestsPerHour, guestBytesPerDay, guestOverallBytes, ownedListBytes, keptBytes
  case issuers, issuerKeys, issuerNetworks, replicationNetworks
  case openStores, databaseDocuments, databaseBytes, databaseDocumentBytes, databaseTreeBytes
  case tombstoneDays, backups, backupEvery, backupKeep
  case audit, adminName, adminPasswordFile, logLevel, logFormat, showCost, drainSeconds

  static let environmentPrefix = "HOTEL_BOOKMARKS_"

  package var environmentName: String { Self.environmentPrefix + words(joinedBy: "_").uppercased() }

  /// The name as a command-line flag, without the leading dashes.
  package var flagName: String { words(joinedBy: "-") }

  /// Whether the setting is a whole number.
  var isNumber: Bool { !Self.ofText.contains(self) }

  private static let ofText: Set<SettingKey> = [
    .hostname, .data, .database, .databasePasswordFile, .upstream, .upstreamCredentialsFile,
    .upstreamNetworks, .upstreamCAFile, .publicURL, .origins, .issuers, .issuerKeys,
    .issuerNetworks, .replicationNetworks, .trustedProxies, .tlsCertificateFile, .tlsKeyFile,
    .backups, .backupEvery, .audit, .adminName, .adminPasswordFile, .logLevel, .logFormat,
  ]

  private func words(joinedBy joiner: String) -> String {
    rawValue.reduce(into: "") { text, character in
      text += character.isUppercase ? joiner + character.lowercased() : String(character)
    }
  }

  // The descriptions of settings. `serve --help` shows them, and a test compares the tables of the Operations page and
  // of the README with them.

  /// The default, in Markdown.
  package var standard: String { texts.standard }

  /// The setting's meaning and its allowed values, in Markdown.
  package var meaning: String { texts.meaning }

  /// One line for `serve --help`.
  package var help: String {
    let text = meaning.prefix(1).uppercased() + meaning.dropFirst() + ". Default: " + standard
    return text.filter { $0 != "`" }
  }

  private var texts: (standard: String, meaning: String) {
    switch self {
    case .hostname: ("`127.0.0.1`", "the address to listen at")
    case .port: ("`8080`", "the TCP port, 0 to 65535; 0 for any free one")
    case .operationsPort:
      (
        "none",
        "a port at which only `/healthz`, `/readyz`, `/metrics` and `/couch/_up` are answered; 0 "
          + "takes a free one"
      )
    case .couchPort:
      (
        "none",
        "a port whose root is `/couch`, for clients that drop the path of a server's URL; 0 takes "
          + "a free one"
      )
    case .data: ("`hotel-bookmarks-data`", "the data directory, on a local disk; made if absent")
    case .database:
      (
        "none: the stores are files of the data directory",
        "the PostgreSQL database that has the stores instead, for any number of servers: "
          + "`postgres://USER@HOST,HOST/NAME`"
      )
    case .databasePasswordFile:
      ("none", "a file with the password for the database, its last line break ignored")
    case .databaseConnections:
      ("`16`", "connections to the database, half of them for reads, 4 to 1000")
    case .upstream:
      (
        "`embedded`",
        "what answers searches: `embedded`, a travel-sample back end's URL, `couchbase:URL#INDEX` "
          + "or `opensearch:URL#INDEX`; several separated by commas, of which the next one is asked "
          + "if one can't answer"
      )
    case .upstreamCredentialsFile:
      (
        "none",
        "a file with a line `URL USER:PASSWORD` for each search engine that needs a password"
      )
    case .upstreamNetworks:
      (
        "all for an address or `localhost`; for a name all but loopback, link-local and other "
          + "reserved ones",
        "the only networks that upstreams may be in, such as `10.0.0.0/8`, separated by commas"
      )
    case .upstreamCAFile:
      ("the system's", "a PEM file of further authorities that may sign upstreams' certificates")
    case .upstreamMilliseconds:
      (
        "`2000`",
        "milliseconds that a search may take at all upstreams together, 100 to 600000; two fifths "
          + "of them until an answer begins, three twentieths to connect"
      )
    case .searchMilliseconds:
      (
        "`200`",
        "milliseconds that a search of the embedded catalogue or of bookmarks may take, 10 to "
          + "600000"
      )
    case .publicURL:
      (
        "each request's own `Host`",
        "the URL by which clients reach this server; with the cookie, only pages of this origin "
          + "may write"
      )
    case .origins:
      (
        "none",
        "origins whose pages may send requests, separated by commas; `*` for any, without cookies"
      )
    case .trustedProxies:
      (
        "none",
        "addresses or blocks of proxies whose `X-Forwarded` fields are trusted, such as `10.0.0.0/8`, "
          + "separated by commas"
      )
    case .tlsCertificateFile:
      (
        "none: no TLS",
        "a PEM file for TLS and HTTP/2: the certificate, then the certificates of its authorities"
      )
    case .tlsKeyFile: ("none", "a PEM file with the certificate's key; both or neither")
    case .connections:
      ("`10000`, or fewer by the limit on file descriptors", "connections at once, 1 to 1000000")
    case .connectionsPerAddress:
      (
        "`256`; no limit for this machine",
        "connections at once from one address, 1 to 1000000; if it is set, it is also the limit "
          + "for this machine"
      )
    case .requestsAtOnce: ("`1024`", "requests answered at once, 1 to 1000000")
    case .overloadMilliseconds:
      (
        "`200`",
        "milliseconds that work may wait for a processor, 10 to 600000, before fewer requests are "
          + "answered at once"
      )
    case .requestSeconds: ("`60`", "the most seconds until a request's answer begins, 1 to 3600")
    case .requestProcessorMilliseconds:
      (
        "`2000`",
        "milliseconds of processor time that one request may use, 10 to 3600000; a stream may use "
          + "a quarter of them for each MiB that it moves"
      )
    case .guestsPerHour: ("`6000`", "guests that one address may create in an hour, 1 to 1000000")
    case .guestBytesPerDay:
      (
        "`1073741824`",
        "bytes that guests of one address may write in their first day, together, from 1048576"
      )
    case .guestOverallBytes:
      (
        "`16777216`",
        "bytes of one guest's store, with histories and everything else in it, from 1048576"
      )
    case .ownedListBytes:
      (
        "`1073741824`",
        "bytes of all lists that one account owns, besides the account's own store, from 1048576"
      )
    case .keptBytes:
      (
        "`1073741824`",
        "bytes of the disk that are reserved for existing guests, users and lists, at most a "
          + "sixteenth of the disk; with less free space no new ones are accepted; 0 reserves none"
      )
    case .issuers:
      (
        "none",
        "OpenID providers whose ID tokens `POST /v1/sessions` accepts: `ISSUER#CLIENT` separated "
          + "by commas, with one more `#` for each further client id"
      )
    case .issuerKeys:
      ("from discovery", "key sets at other URLs: `ISSUER#URL`, separated by commas")
    case .issuerNetworks:
      ("as for upstreams", "the only networks that issuers may be in, separated by commas")
    case .replicationNetworks:
      (
        "all public addresses",
        "the only networks that replications connect to, such as `10.0.0.0/8`, separated by commas"
      )
    case .openStores:
      ("by the limit on file descriptors, at most 2000", "stores open at once, 4 to 100000")
    case .databaseDocuments:
      ("no bound", "documents of each of the administrator's databases, from 1")
    case .databaseBytes: ("no bound", "bytes of all documents of such a database, from 1")
    case .databaseDocumentBytes:
      ("`8000000`", "bytes of one document of such a database, 1048576 to 8000000")
    case .databaseTreeBytes:
      ("`8388608`", "bytes of one document's revision tree in such a database, 1048576 to 67108864")
    case .tombstoneDays:
      (
        "`90`",
        "days after which users' stores and lists forget deleted documents, 7 to 36500; for 90 "
          + "days more no device can bring one back"
      )
    case .backups:
      (
        "none: `backups` in the data directory, without regular ones",
        "the directory for backups, into which the server makes them at regular times; made if "
          + "absent"
      )
    case .backupEvery:
      (
        "`24h`",
        "the time from one regular backup to the next, as `12h` or `7d`, 1 hour to 366 days"
      )
    case .backupKeep:
      (
        "`7`",
        "how many whole backups are kept in that directory, 1 to 10000; older ones are removed "
          + "after each regular one"
      )
    case .audit:
      (
        "`off`",
        "whether sign-ins, erasures and the administrator's acts are recorded: `off`, `on`, or "
          + "`addresses` with the clients' addresses"
      )
    case .adminName: ("`admin`", "the administrator's name, which no user may have")
    case .adminPasswordFile:
      (
        "none: a random password is created and printed at the first start",
        "a file with the administrator's password, 8 to 1024 bytes, its last line break ignored"
      )
    case .logLevel: ("`info`", "the least level that is logged, `trace` to `critical`")
    case .logFormat: ("`text`", "how log lines are written: `text` or `json`")
    case .showCost:
      (
        "`0`",
        "`1` to show in each answer's `Server-Timing` what it cost; for measurements only, because "
          + "every client can read it"
      )
    case .drainSeconds:
      (
        "`0`, in the container `5`",
        "the seconds, 0 to 300, for which requests are still accepted after SIGTERM while "
          + "`/readyz` is 503"
      )
    }
  }
}
