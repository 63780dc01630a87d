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
}
