import Documents
import Hotels
import SQLite
import Scheduling
import Synchronization
import TestSupport

@testable import Catalogue

/// A catalogue in its own directory, imports into it, and a clock that only the test advances.
final class CatalogueFixture: Sendable {
  static let date = Timestamp(seconds: 1_790_000_000)

  let directory: TemporaryDirectory
  let catalogue: HotelCatalogue
  private let elapsed: TestClock
  private let threads = ThreadPool(name: "import")

  init() throws {
    let clock = TestClock()
    let directory = try TemporaryDirectory()
    self.directory = directory
    elapsed = clock
    catalogue = HotelCatalogue(
      directory: directory.path, limit: .seconds(600), now: { clock.uptime })
  }

  /// Runs a test with a catalogue and then closes it.
  static func run(_ body: (CatalogueFixture) async throws -> Void) async throws {
    let fixture = try CatalogueFixture()
    do {
      try await body(fixture)
    } catch {
      await fixture.stop()
      throw error
    }
    await fixture.stop()
  }

  /// Runs a test with a catalogue of these rows.
  static func run(
    rows: [String], _ body: (CatalogueFixture) async throws -> Void
  ) async throws {
    try await run { fixture async throws in
      _ = try await fixture.importing(rows.joined(separator: "\n"))
      try await body(fixture)
    }
  }

  /// Advances the catalogue's clock.
  func advance(by duration: Duration) { elapsed.advanceUptime(by: duration) }

  /// Imports a text, split into chunks of `chunk` bytes.
  func importing(
    _ text: String, onBadRow policy: BadRowPolicy = .refuse, isForced: Bool = true,
    isDryRun: Bool = false, chunk: Int = 1 << 16,
    report: @escaping @Sendable (ImportEvent) -> Void = { _ in }
  ) async throws(CatalogueError) -> ImportSummary {
    try await importing(
      Array(text.utf8), onBadRow: policy, isForced: isForced, isDryRun: isDryRun, chunk: chunk,
      report: report)
  }

  /// Imports bytes, split into chunks of `chunk` bytes.
  func importing(
    _ bytes: [UInt8], onBadRow policy: BadRowPolicy = .refuse, isForced: Bool = true,
    isDryRun: Bool = false, chunk: Int = 1 << 16,
    report: @escaping @Sendable (ImportEvent) -> Void = { _ in }
  ) async throws(CatalogueError) -> ImportSummary {
    let chunks = AsyncStream<[UInt8]> { continuation in
      var rest = bytes[...]
      while !rest.isEmpty {
        continuation.yield(Array(rest.prefix(chunk)))
        rest = rest.dropFirst(chunk)
      }
      continuation.finish()
    }
    return try await importer(
      onBadRow: policy, isForced: isForced, isDryRun: isDryRun, report: report
    ).run(reading: chunks)
  }

  /// Imports a file.
  func importing(file path: String) async throws(CatalogueError) -> ImportSummary {
    try await importer().run(reading: FilePieces(path: path, on: threads))
  }

  /// An import into the catalogue's directory.
  func importer(
    onBadRow policy: BadRowPolicy = .refuse, isForced: Bool = true, isDryRun: Bool = false,
    report: @escaping @Sendable (ImportEvent) -> Void = { _ in }
  ) -> CatalogueImport {
    CatalogueImport(
      into: directory.path, on: threads, name: "hotels.json", at: Self.date, onBadRow: policy,
      isForced: isForced, isDryRun: isDryRun, report: report)
  }

  /// Brings the former catalogue back, and reads it.
  @discardableResult
  func undo() async throws -> CatalogueOrigin {
    let origin = try await StoredCatalogue(in: directory.path, on: threads).undo()
    try await catalogue.reload()
    return origin
  }

  /// The ids of the hotels that match, in order.
  func ids(
    _ description: String? = nil, in location: String? = nil,
    _ matching: HotelQuery.Matching = .words, limit: Int = 100, offset: Int = 0
  ) async throws -> [String] {
    let page = try await catalogue.search(
      HotelQuery(
        description: description, location: location, matching: matching, limit: limit,
        offset: offset))
    return page.hotels.map(\.id.text)
  }

  private func stop() async {
    await catalogue.stop()
    await threads.stop()
  }
}

extension HotelCatalogue {
  /// Opens the present file without waiting for the next check of the file.
  @discardableResult
  func reload() async throws(CatalogueError) -> CatalogueOrigin {
    for reader in readers.dropFirst() {
      try await reader.run { reader throws(CatalogueError) in _ = try reader.reload() }
    }
    return try await readers[0].run { reader throws(CatalogueError) in try reader.reload() }
  }
}
