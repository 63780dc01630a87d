import Accounts
import HTTPServer
import Lists
import Logging
import SQLiteEngine
import ServiceLifecycle
import Stores
import UnixSignals

/// Loads what another process has changed while the server runs: the keys that sign tokens, and the administrator's
/// password if servers share it.
struct KeyService: Service {
  let keys: SigningKeys
  /// Whether several servers share the keys.
  let isShared: Bool
  /// Takes the shared administrator's password.
  let reloadAdministrator: @Sendable () async throws -> Void
  /// The answers that wait, whose tokens may have been signed by a key that is removed.
  let subscriptions: Subscriptions
  /// Where a new key is recorded that the command line has put into the file.
  let audit: AuditLog
  let logger: Logger

  /// How often they are loaded. A removed key may be accepted until then: for 30 seconds if the command line has
  /// removed it from a file, for one second if servers share the keys.
  private var interval: Duration { isShared ? .seconds(1) : .seconds(30) }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var (generation, isFailing) = (keys.generation, false)
      while (try? await Task.sleep(for: interval)) != nil {
        do {
          try await keys.reload()
          if keys.generation != generation {
            subscriptions.checkAllRights()
            if !isShared { audit.note(AuditEvent(.keysRotated, by: .administrator)) }
          }
          generation = keys.generation
          try await reloadAdministrator()
          isFailing = false
        } catch {
          // A failure that lasts is logged once: with a database it would be a line each second.
          if !isFailing, !Task.isCancelled {
            logger.error("the keys can't be reloaded", error)
          }
          isFailing = true
        }
      }
    }
  }
}

/// Finishes the work on lists that a commit about their members has left: after the command line has erased an account,
/// or after a store was full.
struct ListMaintenanceService: Service {
  /// How often it checks: every 20 seconds.
  private static let interval = Duration.seconds(20)

  let lists: ListService
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while (try? await Task.sleep(for: Self.interval)) != nil {
        do {
          for failure in try await lists.catchUp() {
            logger.debug(
              "the work on a list failed and will be repeated",
              metadata: ["detail": "\(failure)"])
          }
        } catch {
          logger.warning(
            "the work on lists failed and will be repeated", metadata: ["detail": "\(error)"])
        }
      }
    }
  }
}

/// Stores the entries of the audit log that wait: each second, and what is left when the server stops.
struct AuditService: Service {
  private static let interval = Duration.seconds(1)
  /// How often a failure is logged at most, in attempts: each minute.
  private static let quietFailures = 60

  let accounts: AccountService
  let logger: Logger

  func run() async throws {
    guard accounts.audit.mode != .off else { return try await gracefulShutdown() }
    accounts.audit.note(AuditEvent(.logBegun))
    await cancelWhenGracefulShutdown {
      var failures = 0
      repeat {
        failures = await write() ? 0 : failures + 1
        if failures % Self.quietFailures == 1 {
          logger.error("the audit log can't be written; its entries wait")
        }
      } while (try? await Task.sleep(for: Self.interval)) != nil
    }
    _ = await write()
  }

  /// - Returns: false after a failure.
  private func write() async -> Bool {
    do { try await accounts.writeAudit() } catch { return false }
    return true
  }
}

/// Stops a server whose database has tables of a newer version, with the reason.
struct VersionService: Service {
  private static let interval = Duration.seconds(1)

  /// Why the stores can't be used any more; nil while they can.
  let refusal: @Sendable () -> ServiceError?

  func run() async throws {
    let found = await cancelWhenGracefulShutdown { () -> ServiceError? in
      while (try? await Task.sleep(for: Self.interval)) != nil {
        if let found = refusal() { return found }
      }
      return nil
    }
    if let found { throw found }
  }
}

/// Reads through all stores slowly and repeatedly, so that damage is found before a person needs the data. It also logs
/// the damage that requests find.
struct ScrubService: Service {
  /// The rest after each piece of at most 256 documents, and after each store: 100 ms. So it takes a hundredth of one
  /// processor, and a day for about 800,000 stores.
  static let pause = Duration.milliseconds(100)
  /// The rest before the first pass, and after each: 10 minutes.
  static let rest = Duration.seconds(600)
  /// How often findings are logged: every 5 seconds.
  private static let interval = Duration.seconds(5)

  let backups: StoreBackups
  let logger: Logger
  /// The rest between two passes.
  var rest = ScrubService.rest

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          while (try? await Task.sleep(for: rest)) != nil { await scrub() }
        }
        group.addTask {
          while (try? await Task.sleep(for: Self.interval)) != nil { log() }
        }
      }
    }
    log()
  }

  private func scrub() async {
    // `log()` logs findings in rows, together with those of requests.
    let reporter = ScrubReporter { _ in
    } progress: { _, _ in
    }
    do {
      let repair = try await backups.repair(reporter, pause: Self.pause)
      if repair.damagedStores > 0 {
        logger.error(
          "stores are damaged and can't be opened; verify names them, restore --store replaces one",
          metadata: ["stores": "\(repair.damagedStores)"])
      }
    } catch is CancellationError {
    } catch {
      logger.warning("the stores could not be checked", error)
    }
  }

  private func log() {
    for finding in backups.engine.takeDamageFound() {
      logger.error(
        "damage was found", metadata: ["file": "\(finding.file)", "detail": "\(finding.reason)"])
    }
  }
}

/// Loads a renewed certificate: within ten seconds, and at once after SIGHUP.
struct CertificateService: Service {
  /// How often the files are checked: 10 seconds.
  private static let interval = Duration.seconds(10)

  let certificates: Certificates
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      await withTaskGroup(of: Void.self) { group in
        group.addTask {
          while (try? await Task.sleep(for: Self.interval)) != nil { reload() }
        }
        group.addTask {
          for await _ in await UnixSignalsSequence(trapping: .sighup) { reload() }
        }
      }
    }
  }

  private func reload() {
    do {
      if try certificates.reload() { logger.info("the certificate was replaced") }
    } catch {
      logger.error("the certificate can't be reloaded", error)
    }
  }
}
