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

  /// Finishes what was begun before a time.
  /// - Parameter limit: nil if nothing can be under way.
  /// - Throws: the errors of the registry and of the system store. Other failures are logged, and the next run repeats
  ///   the work.
  func run(begunBefore limit: Timestamp?) async throws {
    for failure in try await stores.removeStaged(begunBefore: limit) {
      report("the rest of an import can't be removed yet", failure)
    }
    let undos = try await accounts.finishUndos(begunBefore: limit) { guest, user in
      try await hotels.undoAdoption(of: guest, in: .user(user), as: .server)
    }
    let imports = try await lists.finishImports(begunBefore: limit)
    // The lists of an import that can't be finished yet are recorded to be erased, and may have to stay.
    let erasures = imports.isEmpty ? try await accounts.finishErasures(begunBefore: limit) : []
    for failure in try await undos + imports + erasures + lists.finish(begunBefore: limit) {
      report("a store can't be erased yet", failure)
    }
  }

  /// Finishes what was begun so long ago that it is not under way any more.
  func run(at now: Timestamp) async throws {
    try await run(begunBefore: now.adding(seconds: -Self.age))
  }

  private func report(_ what: Logger.Message, _ failure: any Error) {
    logger.error(what, metadata: ["detail": "\(StartFailure.line(failure))"])
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
      while (try? await Task.sleep(for: Self.interval)) != nil {
        do { try await recovery.run(at: now()) } catch {
          logger.warning(
            "unfinished work can't be finished yet and will be tried again",
            metadata: ["detail": "\(StartFailure.line(error))"])
        }
      }
    }
  }
}
