// swift-tools-version: 6.2
import PackageDescription

/// The settings of all Swift targets: upcoming features are on, and warnings are errors.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

/// A target of the service. The book's page *Architecture* says what each floor may import.
func floor(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

/// A target that tests share.
func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Tests/Support/" + name, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(
    name: name + "Tests",
    dependencies: dependencies,
    exclude: [],
    swiftSettings: settings)
}

let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let trees = Target.Dependency.product(name: "HashTreeCollections", package: "swift-collections")
let deque = Target.Dependency.product(name: "DequeModule", package: "swift-collections")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let metrics = Target.Dependency.product(name: "Metrics", package: "swift-metrics")
let coreMetrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let lifecycle = Target.Dependency.product(
  name: "ServiceLifecycle", package: "swift-service-lifecycle")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioLocks = Target.Dependency.product(name: "NIOConcurrencyHelpers", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let nioHTTPTypes = Target.Dependency.product(name: "NIOHTTPTypes", package: "swift-nio-extras")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")

let package = Package(
  name: "hotel-bookmarks",
  products: [
    .executable(name: "hotel-bookmarks", targets: ["Server"])
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    // Without traits: its JSON reader needs all of Foundation. SettingsReader reads the file itself.
    .package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0", traits: []),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", exact: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
    .package(url: "https://github.com/apple/swift-nio-http2", exact: "1.46.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", exact: "2.37.6"),
    // Without traits: its URL-encoded forms support localised dates, which need all of Foundation.
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1", traits: []),
    .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    .package(url: "https://github.com/swiftlang/swift-docc-plugin", exact: "1.5.0"),
  ],
  targets: [
    // Floor 0: values and rules.
    floor("Documents", [crypto]),
    floor("Photos", []),
    floor("IPAddresses", []),
    .target(name: "CScheduling"),
    floor("Scheduling", ["CScheduling", deque, nioLocks]),
    .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    floor("SQLite", ["CSQLite"]),
    .target(
      name: "CICU", linkerSettings: [.linkedLibrary("icui18n"), .linkedLibrary("icuuc")]),
    .target(name: "CRE2", linkerSettings: [.linkedLibrary("re2"), .linkedLibrary("stdc++")]),
    floor("Text", ["CICU", "CRE2"]),
    .target(name: "CPostgres"),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    floor("BLIP", ["CZlib", deque]),

    // Floor 1: stores.
    .target(name: "CXXHash"),
    floor("Stores", ["CXXHash", "Documents", "Scheduling", crypto, deque, nioLocks]),

    // Floor 2: use cases.
    floor(
      "CouchQuery", ["Documents", "Scheduling", "Stores", "Text"]),
    floor("CouchSync", ["Documents", "Scheduling", "Stores", "CouchQuery", trees]),
    floor("LiteSync", ["Documents", "Scheduling", "Stores", "CouchSync", deque]),
    floor("Hotels", ["Documents", "Photos", "Scheduling", "Stores", crypto, metrics]),
    floor(
      "Accounts",
      [
        "Documents", "IPAddresses", "Scheduling", "Stores", "Text", crypto, cryptoExtras,
      ]),
    floor(
      "Lists",
      ["Documents", "Scheduling", "Stores", "Hotels", "Accounts", crypto, nioLocks]),

    // Floor 3: adapters.
    floor(
      "SQLiteEngine",
      ["Documents", "Scheduling", "Stores", "SQLite", crypto, nioLocks]),
    floor(
      "PostgresEngine",
      ["CPostgres", "Documents", "Scheduling", "Stores", deque, nioLocks]),
    .target(
      name: "CEmbedded",
      exclude: ["hotels.ndjson", "import-words.txt", "names.txt", "NOTICE.md"]),
    .target(name: "Page", dependencies: ["CEmbedded"], exclude: ["Files"], swiftSettings: settings),
    floor(
      "Catalogue", ["Documents", "Hotels", "Scheduling", "SQLite", "Text", "CEmbedded"]),
    floor(
      "SearchProxy",
      [
        "Documents", "Hotels", "IPAddresses", "Scheduling", "SQLite", logging, metrics,
        nioCore,
        nioPosix,
        nioSSL,
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ]),
    floor(
      "Replicator",
      [
        "Documents", "IPAddresses", "Scheduling", "Stores", crypto, metrics, nioCore,
        nioPosix, .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
      ]),
    floor(
      "HTTPServer",
      [
        "CZlib", "IPAddresses", "Scheduling", httpTypes, logging, nioCore, nioPosix, nioHTTPTypes,
        nioSSL,
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "HummingbirdHTTP2", package: "hummingbird"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ]),
    floor(
      "HTTPAPI",
      [
        "Documents", "IPAddresses", "Scheduling", "Stores", "Hotels", "Accounts", "Lists",
        "CouchQuery", "CouchSync", "LiteSync", "BLIP", "HTTPServer", "Photos", crypto, logging,
        metrics, hummingbird, httpTypes, lifecycle, nioCore,
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
      ]),

    // Floor 4: the composition root.
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    floor(
      "HotelBookmarks",
      [
        "Documents", "IPAddresses", "Scheduling", "Stores", "Hotels", "Accounts", "Lists",
        "CouchSync", "SQLiteEngine", "PostgresEngine",
        "Catalogue", "SearchProxy", "Replicator", "HTTPServer", "HTTPAPI", "Page", "CEmbedded",
        "CYAML", crypto, logging, metrics, coreMetrics, lifecycle, hummingbird,
        .product(name: "HummingbirdCore", package: "hummingbird"), nioCore, nioPosix,
        nioSSL, .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "Configuration", package: "swift-configuration"),
      ]),

    // Floor 5: the command line.
    .executableTarget(
      name: "Server",
      dependencies: [
        "HotelBookmarks",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: settings),

    support("TestSupport", ["Documents", nioLocks]),
    support("StoreTesting", ["Documents", "Scheduling", "Stores", "TestSupport", nioLocks]),
    support(
      "ReadTesting",
      [
        "Documents", "Scheduling", "Stores", "CouchQuery", "CouchSync", "Hotels",
        "StoreTesting",
      ]),
    tests("BLIP", ["BLIP", "CZlib", "TestSupport"]),
    tests("Documents", ["Documents", "TestSupport"]),
    tests("IPAddresses", ["IPAddresses"]),
    tests("Photos", ["Photos"]),
    tests("Page", ["Page"]),
    tests("Scheduling", ["Scheduling", "TestSupport", nioLocks]),
    tests("SQLite", ["SQLite", "TestSupport"]),
    tests("Text", ["Text"]),
    tests(
      "Stores",
      ["Documents", "Scheduling", "Stores", "StoreTesting", crypto, nioLocks, "TestSupport"]),
    tests(
      "CouchQuery",
      ["Documents", "Scheduling", "Stores", "CouchQuery", "Text", "TestSupport"]),
    tests(
      "CouchSync",
      [
        "Documents", "Scheduling", "Stores", "CouchQuery", "CouchSync", "HTTPAPI",
        "ReadTesting",
        "SQLiteEngine", "StoreTesting", "TestSupport",
      ]),
    tests(
      "LiteSync",
      [
        "Documents", "Scheduling", "Stores", "CouchSync", "LiteSync", "StoreTesting",
        "TestSupport",
      ]),
    tests(
      "Hotels",
      ["Documents", "Scheduling", "Stores", "Hotels", "StoreTesting", "TestSupport"]),
    tests(
      "Accounts",
      [
        "Documents", "IPAddresses", "Stores", "Accounts", "StoreTesting", crypto,
        cryptoExtras, "TestSupport",
      ]),
    tests(
      "Lists",
      [
        "Documents", "Scheduling", "Stores", "Hotels", "Accounts", "Lists", "StoreTesting",
        crypto, "TestSupport",
      ]),
    tests(
      "SQLiteEngine",
      [
        "Documents", "Scheduling", "Stores", "SQLite", "SQLiteEngine",
        "StoreTesting",
        "TestSupport", nioLocks,
      ]),
    tests(
      "PostgresEngine",
      [
        "CPostgres", "Documents", "Scheduling", "Stores", "PostgresEngine",
        "ReadTesting", "SQLite", "SQLiteEngine", "StoreTesting", "TestSupport", nioLocks,
      ]),
    tests(
      "Catalogue",
      ["Documents", "Hotels", "Scheduling", "Catalogue", "SQLite", "TestSupport"]),
    tests(
      "SearchProxy",
      [
        "Documents", "Hotels", "IPAddresses", "Scheduling", "SearchProxy", "SQLite",
        "TestSupport",
      ]),
    tests(
      "Replicator",
      [
        "Documents", "IPAddresses", "Replicator", "Scheduling", "Stores", "StoreTesting",
      ]),
    tests(
      "HTTPServer",
      [
        "HTTPServer", "IPAddresses", "Scheduling", "TestSupport", httpTypes, nioCore, nioHTTPTypes,
        .product(name: "HummingbirdCore", package: "hummingbird"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOWebSocket", package: "swift-nio"),
      ]),
    tests(
      "HTTPAPI",
      [
        "Documents", "Stores", "Hotels", "Accounts", "Lists", "Catalogue", "CouchQuery",
        "CouchSync", "HTTPServer", "HTTPAPI", "IPAddresses", "Scheduling", "SQLiteEngine",
        "StoreTesting",
        hummingbird, httpTypes, logging,
        nioCore,
        nioHTTPTypes,
        .product(name: "HummingbirdTesting", package: "hummingbird"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "Yams", package: "Yams"), "TestSupport",
      ]),
    tests(
      "HotelBookmarks",
      [
        "HotelBookmarks", "HTTPServer", "Documents", "IPAddresses", "Stores", "Accounts",
        "Hotels",
        "SearchProxy", "HTTPAPI",
        "SQLiteEngine", "StoreTesting", logging, coreMetrics, nioCore,
        "TestSupport",
      ]),
    // The fuzz targets without the fuzzer, for their fixed slice.
    .testTarget(
      name: "FuzzingTests",
      dependencies: [
        "Documents", "IPAddresses", "Stores", "CouchQuery", "CouchSync", "LiteSync",
        "BLIP", "Hotels", "Photos", "Accounts", "SearchProxy", "HTTPServer", "HTTPAPI",
        "TestSupport",
      ],
      path: "Tests/Fuzzing",
      exclude: ["CFuzzer", "Seeds", "words.dict", "Targets/Entry.swift", "Targets/main.swift"],
      sources: ["Targets", "Tests"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6],
  cxxLanguageStandard: .cxx17
)

// The benchmarks: the empty handler and the in-process benchmarks. Scripts/bench sets this variable.
if Context.environment["BOOKMARKS_BENCHMARKS"] != nil {
  // Without traits: they count allocations, which needs further packages.
  package.dependencies.append(
    .package(url: "https://github.com/ordo-one/benchmark", exact: "1.38.1", traits: []))
  package.products += [
    .executable(name: "empty-handler", targets: ["EmptyHandler"]),
    .executable(name: "InProcess", targets: ["InProcess"]),
    .executable(name: "EditLoop", targets: ["EditLoop"]),
  ]
  package.targets += [
    .executableTarget(
      name: "EmptyHandler", dependencies: [hummingbird, httpTypes, nioCore],
      path: "Benchmarks/EmptyHandler", swiftSettings: settings),
    .executableTarget(
      name: "InProcess",
      dependencies: [
        "Documents", "Stores", "SQLiteEngine", nioLocks,
        .product(name: "Benchmark", package: "benchmark"),
      ],
      path: "Benchmarks/InProcess", swiftSettings: settings),
    .executableTarget(
      name: "EditLoop", dependencies: ["Documents", "Stores", "Hotels", "SQLiteEngine"],
      path: "Benchmarks/EditLoop", swiftSettings: settings),
  ]
}

// The run with the thread sanitizer builds only the targets in this variable: BOOKMARKS_TARGETS="Documents Stores".
if let named = Context.environment["BOOKMARKS_TARGETS"] {
  let names = Set(named.split(separator: " ").map(String.init))
  package.targets.removeAll { !names.contains($0.name) }
  package.products = []
}

// The fuzzer builds the parsers of untrusted input with its own instrumentation (Tests/Fuzzing). Of targets whose
// other parts need large libraries, it builds only the files with parsers.
if Context.environment["BOOKMARKS_FUZZING"] != nil {
  let sanitizers = ["-sanitize=fuzzer,address"]
  let instrumented = settings + [.unsafeFlags(sanitizers + ["-O"])]
  let whole = [
    "Documents", "IPAddresses", "Photos", "Scheduling", "Text", "BLIP", "Stores",
    "CouchQuery", "CouchSync", "LiteSync", "Hotels",
  ]
  func readers(_ name: String, _ dependencies: [Target.Dependency], _ files: [String]) -> Target {
    .target(
      name: name, dependencies: dependencies, sources: files.map { $0 + ".swift" },
      swiftSettings: instrumented)
  }
  package.products = []
  package.targets.removeAll {
    !(whole + ["CICU", "CScheduling", "CRE2", "CXXHash", "CZlib"]).contains($0.name)
  }
  for target in package.targets where whole.contains(target.name) {
    target.swiftSettings = instrumented
  }
  package.targets += [
    readers(
      "Accounts", ["Documents", "IPAddresses", "Stores", "Text"],
      [
        "Base64URL", "CompactToken", "IDToken", "Principal", "Secret", "ServiceError+Accounts",
        "TokenClaims", "TrustedIssuer", "UserName",
      ]),
    readers(
      "SearchProxy", ["Documents", "Hotels"],
      [
        "SearchTerm", "TravelSampleAnswer", "UpstreamAnswer", "UpstreamOrigin", "UpstreamURL",
        "Upstreams/CouchbaseDialect", "Upstreams/OpenSearchDialect", "Upstreams/QueryDialect",
        "Upstreams/QueryRows",
      ]),
    readers("HTTPServer", ["CZlib", "Scheduling"], ["GzipReader", "GzipWriter"]),
    readers(
      "HTTPAPI", ["Documents", "Accounts", httpTypes],
      ["Errors/Problem"]
        + ["QueryParameters", "RequestTarget", "SentCredentials"]
        .map { "Serving/" + $0 }),
    .systemLibrary(name: "CFuzzer", path: "Tests/Fuzzing/CFuzzer"),
    .executableTarget(
      name: "Fuzzing",
      dependencies: [
        "Documents", "IPAddresses", "Stores", "CouchQuery", "CouchSync", "LiteSync",
        "BLIP", "Hotels", "Photos", "Accounts", "SearchProxy", "HTTPServer", "HTTPAPI", "CFuzzer",
      ],
      path: "Tests/Fuzzing/Targets", swiftSettings: instrumented,
      linkerSettings: [.unsafeFlags(sanitizers + ["-use-ld=lld"])]),
  ]
}
