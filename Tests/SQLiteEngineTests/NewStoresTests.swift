import SQLite
import Scheduling
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// All new files are copies of one blank database, each with its own header.
@Suite struct NewStoresTests {
  @Test func aFileHasNothingOfTheOneBefore() async throws {
    let blank = try BlankDatabase(.store)
    let threads = ThreadPool(name: "new")
    let newStores = try NewStores(blank, on: threads)
    let long = StoreHeader(key: "named/" + String(repeating: "secret", count: 30), epoch: "e1")
    let short = StoreHeader(key: "system", epoch: "e2")
    let images = [
      try await newStores.image(long), try await newStores.image(short),
      try await newStores.image(long),
    ]
    #expect(images[0] == images[2])
    let secret = Array("secret".utf8)
    let hasSecret = images.map { image in
      image.indices.contains { image[$0...].starts(with: secret) }
    }
    #expect(hasSecret == [true, false, true])
    await threads.stop()
  }

  @Test func aFileIsWhatAFreshDatabaseIs() async throws {
    let blank = try BlankDatabase(.store)
    let threads = ThreadPool(name: "new")
    let header = StoreHeader(key: "system", epoch: "e")
    let image = try await NewStores(blank, on: threads).image(header)
    let directory = try TemporaryDirectory()
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    try file.create(image)
    let opened = try Connection.opening(file, as: blank) { connection in
      try StoreHeader(readingFrom: connection)
    }
    #expect(opened.header == header)
    try opened.connection.close()
    await threads.stop()
  }

  /// Regression: a row whose number damage had made 0 was read before the one that a repair had written since.
  @Test func rowThatDamageHasMovedIsReadOnlyWithoutTheHeader() async throws {
    let blank = try BlankDatabase(.store)
    let threads = ThreadPool(name: "new")
    let header = StoreHeader(key: "system", epoch: "e")
    let image = try await NewStores(blank, on: threads).image(header)
    let directory = try TemporaryDirectory()
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    try file.create(image)
    let connection = try Connection.opening(file, as: blank) { _ in header }.connection
    try connection.execute(
      "PRAGMA ignore_check_constraints = ON; UPDATE header SET one = 0 WHERE one = 1")
    #expect(throws: ServiceError.self) { try StoreHeader(readingFrom: connection) }
    #expect(try StoreHeader(readingFrom: connection, repairing: true) == header)
    let next = StoreHeader(key: "system", epoch: "next")
    try next.write(to: connection)
    #expect(try StoreHeader(readingFrom: connection) == next)
    #expect(try StoreHeader(readingFrom: connection, repairing: true) == next)
    try connection.close()
    await threads.stop()
  }
}
