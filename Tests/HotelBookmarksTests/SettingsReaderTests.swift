import Accounts
import Documents
import HTTPAPI
import HTTPServer
import IPAddresses
import Logging
import SearchProxy
import Stores
import Testing

@testable import HotelBookmarks

@Suite struct SettingsReaderTests {
  /// For each setting, a value that is not its default.
  private static let values: [SettingKey: String] = [
    .hostname: "::1", .port: "81", .data: "elsewhere", .upstream: "http://up.example",
    .database: "postgres://hotel@db/hotel", .databasePasswordFile: "/run/secrets/hotel",
    .databaseConnections: "5",
    .upstreamCredentialsFile: "engines", .upstreamNetworks: "10.0.0.0/8, ::1",
    .upstreamCAFile: "authority.pem",
    .publicURL: "https://hotels.example", .origins: "https://a.example,https://b.example",
    .trustedProxies: "10.0.0.0/8,::1", .tlsCertificateFile: "tls.pem", .tlsKeyFile: "key.pem",
    .connections: "77", .connectionsPerAddress: "8", .requestsAtOnce: "99",
    .overloadMilliseconds: "201", .upstreamMilliseconds: "2001", .searchMilliseconds: "202",
    .operationsPort: "0", .requestSeconds: "61", .requestProcessorMilliseconds: "2001",
    .guestsPerHour: "7", .guestBytesPerDay: "1048577", .keptBytes: "8",
    .guestOverallBytes: "1048578", .ownedListBytes: "1048579",
    .issuers: "https://a.example/r#x#y, https://b.example/#z,https://a.example/r#w",
    .issuerKeys: "https://b.example/#https://keys.example/b?p=1", .issuerNetworks: "10.0.0.0/8",
    .replicationNetworks: "192.168.0.0/16",
    .openStores: "9", .databaseDocuments: "11", .databaseBytes: "12",
    .databaseDocumentBytes: "2000000", .databaseTreeBytes: "3000000", .tombstoneDays: "30",
    .adminName: "boss",
    .adminPasswordFile: "/run/secrets/boss", .logLevel: "trace", .logFormat: "json", .showCost: "1",
    .drainSeconds: "3", .couchPort: "5984", .backups: "/backups", .backupEvery: "12h",
    .backupKeep: "4", .audit: "addresses",
  ]

  private static var expected: Settings {
    var settings = Settings()
    settings.hostname = "::1"
    settings.port = 81
    settings.couchPort = 5_984
    settings.backups = "/backups"
    settings.backupSeconds = 43_200
    settings.backupKeep = 4
    settings.audit = .addresses
    settings.data = "elsewhere"
    settings.database = "postgres://hotel@db/hotel"
    settings.databasePasswordFile = "/run/secrets/hotel"
    settings.databaseConnections = 5
    settings.upstreams = [.travelSample("http://up.example")]
    settings.upstreamCredentialsFile = "engines"
    settings.upstreamNetworks = ["10.0.0.0/8", "::1"].compactMap { CIDRBlock($0) }
    settings.upstreamCAFile = "authority.pem"
    settings.publicURL = "https://hotels.example"
    settings.origins = ["https://a.example", "https://b.example"]
    settings.trustedProxies = TrustedProxies(["10.0.0.0/8", "::1"].compactMap { CIDRBlock($0) })
    settings.tlsCertificateFile = "tls.pem"
    settings.tlsKeyFile = "key.pem"
    settings.connections = 77
    settings.connectionsPerAddress = 8
    settings.requestsAtOnce = 99
    settings.overloadMilliseconds = 201
    settings.upstreamMilliseconds = 2_001
    settings.searchMilliseconds = 202
    settings.requestSeconds = 61
    settings.requestProcessorMilliseconds = 2_001
    settings.operationsPort = 0
    settings.guestsPerHour = 7
    settings.limits.guestBytesPerDay = 1_048_577
    settings.limits.keptBytes = 8
    settings.limits.guestOverallBytes = 1_048_578
    settings.limits.ownedListBytes = 1_048_579
    settings.issuers = [
      TrustedIssuer(url: "https://a.example/r", audiences: ["x", "y", "w"]),
      TrustedIssuer(
        url: "https://b.example/", audiences: ["z"], keysURL: "https://keys.example/b?p=1"),
    ]
    settings.issuerNetworks = ["10.0.0.0/8"].compactMap { CIDRBlock($0) }
    settings.replicationNetworks = ["192.168.0.0/16"].compactMap { CIDRBlock($0) }
    settings.openStores = 9
    settings.limits.databases = StoreLimits(
      documents: 11, bytes: 12,
      history: HistoryLimits(
        liveLeaves: .max, deletedLeaves: .max, treeBytes: 3_000_000),
      documentBytes: 2_000_000, attachmentBytes: 20 << 20)
    settings.limits.tombstoneDays = 30
    settings.adminName = "boss"
    settings.adminPasswordFile = "/run/secrets/boss"
    settings.logLevel = .trace
    settings.logFormat = .json
    settings.showsCost = true
    settings.drainSeconds = 3
    return settings
  }

  private static func read(
    flags: [SettingKey: String] = [:], environment: [String: String] = [:], file: String? = nil
  ) throws(SettingsError) -> Settings {
    try SettingsReader(flags: flags, environment: environment, file: file.map { Array($0.utf8) })
      .settings()
  }

  private static func refusal(
    flags: [SettingKey: String] = [:], environment: [String: String] = [:], file: String? = nil
  ) throws -> String {
    try #require(throws: SettingsError.self) {
      try read(flags: flags, environment: environment, file: file)
    }.description
  }

  @Test func nothingGivenIsTheDefaults() throws {
    #expect(try Self.read() == Settings())
    #expect(try Self.read(environment: ["PATH": "/bin", "PORT": "1"], file: "{}") == Settings())
    #expect(Settings().hostname == "127.0.0.1" && Settings().port == 8080)
  }

  /// Regression: a server with a time for its backups and no directory made none, without a word.
  @Test(arguments: [(.backupEvery, "12h"), (.backupKeep, "4")] as [(SettingKey, String)])
  func timesOfBackupsNeedADirectory(key: SettingKey, text: String) throws {
    #expect(try Self.refusal(flags: [key: text]).hasPrefix("backups must be given"))
    _ = try Self.read(flags: [key: text, .backups: "/backups"])
  }

  @Test func everySettingCanBeAFlag() throws {
    #expect(Set(Self.values.keys) == Set(SettingKey.allCases))
    #expect(try Self.read(flags: Self.values) == Self.expected)
  }

  @Test func everySettingCanBeInTheEnvironment() throws {
    let pairs = Self.values.map { ($0.key.environmentName, $0.value) }
    let environment = Dictionary(uniqueKeysWithValues: pairs)
    #expect(try Self.read(environment: environment) == Self.expected)
  }

  @Test func everySettingCanBeInTheFile() throws {
    var file = JSONObject()
    for (key, text) in Self.values {
      file[key.rawValue] = Int(text).map { .number(JSONNumber($0)) } ?? .string(text)
    }
    let text = String(decoding: JSONValue.object(file).bytes, as: UTF8.self)
    #expect(try Self.read(file: text) == Self.expected)
  }

  @Test(arguments: [(true, true, 1), (false, true, 2), (true, false, 1), (false, false, 3)])
  func flagGoesBeforeEnvironmentBeforeFile(flag: Bool, environment: Bool, port: Int) throws {
    let settings = try Self.read(
      flags: flag ? [.port: "1", .hostname: "flag"] : [:],
      environment: environment
        ? ["HOTEL_BOOKMARKS_PORT": "2", "HOTEL_BOOKMARKS_HOSTNAME": "environment"] : [:],
      file: #"{"port":3,"hostname":"file","data":"file"}"#)
    #expect(settings.port == port)
    #expect(settings.hostname == (flag ? "flag" : environment ? "environment" : "file"))
    #expect(settings.data == "file")
  }

  @Test func unknownNamesAreRefusedByName() throws {
    #expect(try Self.refusal(file: #"{"prot":1}"#).contains("prot"))
    #expect(try Self.refusal(file: #"{"log-level":"info"}"#).contains("log-level"))
    for name in ["HOTEL_BOOKMARKS_PROT", "HOTEL_BOOKMARKS_", "HOTEL_BOOKMARKS_PUBLICURL"] {
      #expect(try Self.refusal(environment: [name: "1"]).contains(name))
    }
  }

  @Test func otherPeoplesVariablesAreNoConcern() throws {
    #expect(try Self.read(environment: ["HOTEL_BOOKMARK_PORT": "x"]) == Settings())
  }

  @Test(arguments: ["x", "", "1.5", "1e3", " 1", "0x10", "9223372036854775808"])
  func wrongNumberIsRefusedByName(text: String) throws {
    #expect(try Self.refusal(flags: [.guestsPerHour: text]).contains("--guests-per-hour"))
    let name = "HOTEL_BOOKMARKS_PORT"
    #expect(try Self.refusal(environment: [name: text]).contains(name))
  }

  /// Regression: a member of the wrong type was read as an empty text.
  @Test(arguments: [
    (#"{"port":"80"}"#, "port"), (#"{"port":80.5}"#, "port"), (#"{"port":null}"#, "port"),
    (#"{"hostname":5}"#, "hostname"), (#"{"hostname":true}"#, "hostname"),
    (#"{"data":null}"#, "data"), (#"{"origins":["https://a.example"]}"#, "origins"),
    (#"{"openStores":{}}"#, "openStores"),
  ])
  func wrongKindInTheFileIsRefusedByName(file: String, name: String) throws {
    #expect(try Self.refusal(file: file).hasPrefix(name + " must be"))
  }

  @Test(arguments: ["", "{", "[]", "7", #"{"port":1,"port":2}"#, "\u{FEFF}{}", #"{"port":1}x"#])
  func fileThatIsNoObjectIsRefused(file: String) throws {
    #expect(try Self.refusal(file: file).contains("configuration file"))
  }

  @Test(arguments: [
    (SettingKey.port, "0", true), (.port, "65535", true), (.port, "65536", false),
    (.port, "-1", false), (.guestsPerHour, "1", true), (.guestsPerHour, "0", false),
    (.guestsPerHour, "1000000", true), (.guestsPerHour, "1000001", false), (.openStores, "4", true),
    (.guestBytesPerDay, "1048576", true), (.guestBytesPerDay, "1048575", false),
    (.keptBytes, "0", true), (.keptBytes, "-1", false),
    (.guestOverallBytes, "1048575", false), (.ownedListBytes, "1048575", false),
    (.databaseDocuments, "1", true), (.databaseDocuments, "0", false),
    (.databaseBytes, "1", true), (.databaseBytes, "0", false),
    (.databaseDocumentBytes, "8000000", true), (.databaseDocumentBytes, "8000001", false),
    (.databaseTreeBytes, "1048576", true), (.databaseTreeBytes, "1048575", false),
    (.tombstoneDays, "7", true), (.tombstoneDays, "6", false),
    (.openStores, "3", false), (.openStores, "100000", true), (.openStores, "100001", false),
    (.logLevel, "critical", true), (.logLevel, "loud", false), (.logFormat, "text", true),
    (.audit, "on", true), (.audit, "yes", false), (.showCost, "0", true), (.showCost, "2", false),
    (.logFormat, "xml", false), (.upstream, "embedded", true), (.upstream, "https://x", true),
    (.upstream, "ftp://x", false), (.upstream, "", false), (.connections, "1", true),
    (.connections, "0", false), (.connectionsPerAddress, "1", true),
    (.connectionsPerAddress, "0", false), (.requestsAtOnce, "1", true),
    (.operationsPort, "65535", true), (.operationsPort, "65536", false),
    (.overloadMilliseconds, "10", true), (.overloadMilliseconds, "9", false),
    (.upstreamMilliseconds, "100", true), (.upstreamMilliseconds, "99", false),
    (.upstreamMilliseconds, "600000", true), (.upstreamMilliseconds, "600001", false),
    (.searchMilliseconds, "10", true), (.searchMilliseconds, "9", false),
    (.requestSeconds, "3600", true), (.requestSeconds, "3601", false),
    (.requestProcessorMilliseconds, "10", true), (.requestProcessorMilliseconds, "9", false),
    (.requestsAtOnce, "0", false), (.requestsAtOnce, "1000001", false),
    (.trustedProxies, "10.0.0.1", true), (.trustedProxies, "10.0.0.0/33", false),
    (.trustedProxies, "proxy.example", false),
    (.upstreamNetworks, "fd00::/8,192.0.2.7", true), (.upstreamNetworks, "10.0.0.1/8", false),
    (.upstreamNetworks, "ten", false), (.upstreamNetworks, ",", false),
    (.issuers, "https://a.example#x", true), (.issuers, "http://localhost:1#x", true),
    (.issuers, "http://127.0.0.1:1/r#x", true), (.issuers, "http://[::1]:1#x", true),
    (.issuers, "http://a.example#x", false), (.issuers, "http://127.0.0.1.example#x", false),
    (.issuers, "http://10.0.0.1#x", false), (.issuers, "https://a.example", false),
    (.issuers, "https://a.example#", false), (.issuers, "https://a.example?p#x", false),
    (.issuers, "https://u@a.example#x", false), (.issuers, "a.example#x", false),
    (.issuers, "", false), (.issuerKeys, "https://a.example#https://a.example/k", false),
    (.issuerNetworks, "10.0.0.1/8", false), (.replicationNetworks, "10.0.0.1/8", false),
  ])
  func valuesHaveBounds(key: SettingKey, text: String, isGood: Bool) throws {
    if isGood {
      _ = try Self.read(flags: [key: text])
    } else {
      #expect(try Self.refusal(flags: [key: text]).hasPrefix(key.rawValue + " must be"))
    }
  }

  @Test(arguments: [
    ("https://k.example/keys?p=a", true), ("http://k.example/keys", false), ("k", false),
    ("https://k.example/k#f", false), ("https://k.example/k?a\\b", false),
  ])
  func anIssuersKeySetIsAtACheckedURL(url: String, isGood: Bool) throws {
    let flags: [SettingKey: String] = [
      .issuers: "https://a.example#x", .issuerKeys: "https://a.example#" + url,
    ]
    if isGood {
      #expect(try Self.read(flags: flags).issuers.first?.keysURL == url)
    } else {
      #expect(try Self.refusal(flags: flags).hasPrefix("issuerKeys must be"))
    }
  }

  /// Regression: the second listener said that another program had its port.
  @Test func portsAreDifferent() throws {
    for key in [SettingKey.operationsPort, .couchPort] {
      #expect(
        try Self.refusal(flags: [key: "8080"])
          == "port, operationsPort and couchPort must be different ports")
      #expect(try Self.read(flags: [.port: "0", key: "0"]).port == 0)
    }
  }

  @Test func certificateAndKeyAreGivenTogether() throws {
    for key in [SettingKey.tlsCertificateFile, .tlsKeyFile] {
      #expect(try Self.refusal(flags: [key: "x.pem"]).contains("tlsCertificateFile"))
    }
  }

  @Test(
    arguments: [
      ("https://x/", "https://x"), ("HTTPS://Hotels.Example:443", "https://hotels.example"),
      ("http://[::1]:80/a/", "http://[::1]/a"), ("http://x:8080", "http://x:8080"),
    ])
  func publicURLIsKeptAsBrowsersSendIt(text: String, kept: String) throws {
    #expect(try Self.read(flags: [.publicURL: text]).publicURL == kept)
  }

  /// Regression: with such values every write of the page would be 403.
  @Test(
    arguments: [
      "hotels.example", "https://", "ftp://x", "https://x?y", "https://u@x", "https://x:99999",
      "https://h\u{F6}tel.example", "//x", "https://x y",
    ])
  func publicURLThatNoBrowserSendsIsRefused(text: String) throws {
    #expect(try Self.refusal(flags: [.publicURL: text]).contains("publicUrl"))
  }

  @Test func originsAreKeptAsBrowsersSendThem() throws {
    let text = "https://App.example/, *,capacitor://localhost http://a:80"
    #expect(
      try Self.read(flags: [.origins: text]).origins
        == ["https://app.example", "*", "capacitor://localhost", "http://a"])
    for text in ["app.example", "https://a.example/page", "null"] {
      #expect(try Self.refusal(flags: [.origins: text]).contains("origins"))
    }
  }
}
