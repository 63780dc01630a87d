// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the service never depends on GRDB. All folders of `Sources` but `SQLiteLayers` are symbolic
// links to the service's sources, so that the measured code is the service's.

/// The service's own settings, so that its files compile in the same way here.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .treatAllWarnings(as: .error),
]

let package = Package(
  name: "sqlite-layers",
  dependencies: [
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  ],
  targets: [
    .target(name: "CSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "CScheduling"),
    .target(
      name: "Scheduling",
      dependencies: ["CScheduling", .product(name: "DequeModule", package: "swift-collections")],
      swiftSettings: settings),
    .target(name: "SQLite", dependencies: ["CSQLite", "Scheduling"], swiftSettings: settings),
    .executableTarget(
      name: "SQLiteLayers",
      dependencies: ["Scheduling", "SQLite", .product(name: "GRDB", package: "GRDB.swift")],
      swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
