import Foundation
import SQLite
import TestSupport
import Testing

@Suite struct CachedPagesTests {
  private func filled(_ path: String) throws {
    let connection = try Connection(path: path, mode: .readWriteCreate)
    try connection.execute("CREATE TABLE notes(number INTEGER PRIMARY KEY, text BLOB)")
    try connection.begin()
    for number in 1...200 {
      try connection.statement("INSERT INTO notes VALUES (?1, zeroblob(4000))")
        .run(.integer(number))
    }
    try connection.commit()
    try connection.close()
  }

  /// Removes a file from the system's page cache. The system may ignore the advice at first: about once in two
  /// thousand times, another processor still holds a page that was just written.
  private func forget(_ path: String) throws {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    for _ in 0..<1_000 {
      try #require(fsync(file) == 0)
      try #require(posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED) == 0)
      if try pagesInMemory(file) == 0 { return }
      usleep(1_000)
    }
    Issue.record("the system keeps the file in memory")
  }

  private func pagesInMemory(_ file: Int32) throws -> Int {
    let size = Int(lseek(file, 0, SEEK_END))
    let address = try #require(mmap(nil, size, PROT_READ, MAP_SHARED, file, 0))
    try #require(address != MAP_FAILED)
    defer { munmap(address, size) }
    var pages = [UInt8](repeating: 0, count: size / Int(getpagesize()) + 1)
    try #require(mincore(address, size, &pages) == 0)
    return pages.count { $0 & 1 == 1 }
  }

  private func length(_ number: Int, _ connection: Connection) throws -> Int? {
    try connection.statement("SELECT text FROM notes WHERE number = ?1").first(.integer(number)) {
      row throws in row.bytes(0).count
    }
  }

  @Test func whatIsInMemoryIsRead() throws {
    let directory = try TemporaryDirectory()
    try filled(directory.file("notes"))
    let connection = try Connection(
      path: directory.file("notes"), mode: .readWrite, exclusive: true)
    // The connection's own cache is new, so both pages come from the file.
    let read = connection.withoutDiskReads { Result { try length(7, connection) } }
    #expect(try read?.get() == 4_000)
  }

  /// The system starts to read what a read that must not wait asks for (Linux, `page_cache_sync_readahead`). When the
  /// disk is done before the call looks, which happens on busy machines with quick virtual disks, the read succeeds
  /// without having waited: then the next file is tried.
  @Test func whatIsOnTheDiskAloneIsLeftToOthersAndReadByThem() throws {
    let directory = try TemporaryDirectory()
    for attempt in 1...200 {
      let path = directory.file("notes\(attempt)")
      try filled(path)
      let connection = try Connection(path: path, mode: .readWrite, exclusive: true)
      try forget(path)
      if let quick = connection.withoutDiskReads({ Result { try length(150, connection) } }) {
        #expect(try quick.get() == 4_000)
        continue
      }
      #expect(try length(150, connection) == 4_000)
      // The file is in the page cache now, and the failed read has had no effect.
      #expect(
        try connection.withoutDiskReads { Result { try length(150, connection) } }?.get() == 4_000)
      #expect(try connection.integrityCheck().isEmpty)
      return
    }
    Issue.record("no read was left to others")
  }
}
