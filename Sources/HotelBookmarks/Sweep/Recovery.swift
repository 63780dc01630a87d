import Accounts
import Documents
import Hotels
import Lists
import Logging
import ServiceLifecycle
import Stores

/// Finishes what a stopped process or a failure has interrupted: imports, undone adoptions, erasures, the members shown
/// in lists. Runs at every start, before requests are accepted, and then each minute.
struct Recovery: Sendable {
  /// After how many seconds something that was begun counts as interrupted: 15 minutes. Requests end much sooner.
  private static let age: Int64 = 900

  let stores: DatabaseManager
  let accounts: AccountService
  let hotels: HotelService
  let lists: ListService
  let logger: Logger

  /// Finishes what was begun before a time. Damage that ends a step stops no other.
  /// - Parameter limit: nil if nothing can be under way.
  /// - Parameter known: failures that are not logged, because an earlier run has logged them.
  /// - Returns: the failures that were logged or known. The next run repeats the work.
  /// - Throws: the errors of the registry and of the system store.
  @discardableResult
  func run(
    begunBefore limit: Timestamp?, besides known: Set<String> = []
  ) async throws -> Set<String> {
    var found = try await failures { try await stores.removeStaged(begunBefore: limit) }
    found += try await failures {
      try await accounts.finishUndos(begunBefore: limit) { guest, user in
        try await hotels.undoAdoption(of: guest, in: .user(user), as: .server)
      }
    }
    let imports = try await failures { try await lists.finishImports(begunBefore: limit) }
    found += imports
    found += try await failures {
      // The lists of an import that can't be finished yet are recorded to be erased, and may have to stay.
      try await accounts.finishErasures(begunBefore: limit, keepingLists: !imports.isEmpty)
    }
    found += try await lists.finish(begunBefore: limit)
    let lines = Set(found.map(StartFailure.line))
    for line in lines.subtracting(known).sorted() {
      logger.error("interrupted work can't be finished yet", metadata: ["detail": "\(line)"])
    }
    return lines
  }

  /// Finishes what was begun so long ago that it is not under way any more.
  @discardableResult
  func run(at now: Timestamp, besides known: Set<String> = []) async throws -> Set<String> {
    try await run(begunBefore: now.adding(seconds: -Self.age), besides: known)
  }
}

/// Finishes what this server or another one of the same database has not finished.
struct RecoveryService: Service {
  /// How often it looks: each minute.
  private static let interval = Duration.seconds(60)

  let recovery: Recovery
  let logger: Logger
  let now: @Sendable () -> Timestamp

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var known: Set<String> = []
      while (try? await Task.sleep(for: Self.interval)) != nil {
        do { known = try await recovery.run(at: now(), besides: known) } catch {
          logger.warning("unfinished work can't be finished yet and will be tried again", error)
        }
      }
    }
  }
}
