import Catalogue
import Lanes
import Logging
import PostgresEngine
import ServiceLifecycle
import Stores

/// Gives all servers of a database the same catalogue. Whoever imports one writes its file to the database; the others
/// look for another file each second, and copy it into their data directories.
struct SharedCatalogue: Sendable {
  /// The name of the file in the database.
  private static let name = "catalogue"

  let database: PostgresDatabase
  let data: String

  /// Writes the directory's catalogue to the database, after an import.
  func publish() async throws {
    try await withCopy { copy in
      var offset = 0
      let file = try await database.replaceSharedFile(Self.name) {
        let piece = try await copy.bytes(
          from: offset, count: PostgresDatabase.sharedPieceBytes)
        offset += piece.count
        return piece.isEmpty ? nil : piece
      }
      await copy.note(version: file.version)
    }
  }

  /// Copies the database's catalogue into the directory if it has another one.
  /// - Returns: whether the catalogue was replaced.
  @discardableResult
  func catchUp() async throws -> Bool {
    guard let file = try await database.sharedFile(Self.name) else { return false }
    return try await withCopy { copy in
      guard await copy.version != file.version else { return false }
      let index = Counter()
      try await copy.replace {
        let next = await index.next()
        guard next < file.pieces else { return nil }
        return try await database.piece(next, of: file, Self.name)
      }
      await copy.note(version: file.version)
      return true
    }
  }

  /// Writes the directory's catalogue to the database if an operator has imported it.
  /// - Returns: whether it was written.
  func publishImported() async throws -> Bool {
    guard try await withCopy({ copy in await copy.isImported }) else { return false }
    try await publish()
    return true
  }

  private func withCopy<Value>(_ work: (CatalogueCopy) async throws -> Value) async throws -> Value
  {
    let lane = Lane(name: "catalogue-copy")
    let result: Result<Value, any Error>
    do { result = .success(try await work(CatalogueCopy(in: data, on: lane))) } catch {
      result = .failure(error)
    }
    await lane.stop()
    return try result.get()
  }

  /// Counts pieces.
  private actor Counter {
    private var count: Int64 = 0

    func next() -> Int64 {
      defer { count += 1 }
      return count
    }
  }
}

/// Looks for another server's catalogue.
struct SharedCatalogueService: Service {
  /// How often it looks: each second.
  private static let interval = Duration.seconds(1)

  let catalogue: SharedCatalogue
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var isFailing = false
      while (try? await Task.sleep(for: Self.interval)) != nil {
        do {
          if try await catalogue.catchUp() { logger.info("there is another catalogue") }
          isFailing = false
        } catch {
          // A failure that lasts is logged once.
          if !isFailing, !Task.isCancelled {
            logger.warning(
              "the shared catalogue can't be copied",
              metadata: ["detail": "\(StartFailure.line(error))"])
          }
          isFailing = true
        }
      }
    }
  }
}
