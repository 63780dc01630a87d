import Glibc
import Logging
import SQLiteEngine
import Scheduling
import ServiceLifecycle

/// Serves the command line through the control socket, one connection after the other.
struct ControlService: Service {
  /// The data directory, which has the socket.
  let directory: String
  /// Nil for stores in a database.
  let backups: StoreBackups?
  let users: UserCommands
  let logger: Logger

  /// How often it checks whether the client has gone, which cancels the request: every 200 ms.
  private static let watch = Duration.milliseconds(200)

  func run() async throws {
    let path = DataFiles.control(in: directory)
    // Waiting for connections blocks.
    let threads = ThreadPool(name: "control")
    let opening = await threads.run { ControlSocket.listen(at: path) }
    guard let socket = opening.descriptor else {
      logger.warning(
        "the command line can't ask for anything: the control socket can't be made",
        metadata: ["detail": "\(opening.failure)"])
      try? await gracefulShutdown()
      await threads.stop()
      return
    }
    await cancelWhenGracefulShutdown {
      await withTaskCancellationHandler {
        while let peer = await threads.run({ ControlSocket.accept(socket) }) {
          await serve(ControlPeer(descriptor: peer))
        }
      } onCancel: {
        // Ends the blocking call of `accept`; closing the descriptor would not.
        _ = shutdown(socket, Int32(SHUT_RDWR))
      }
    }
    unlink(path)
    close(socket)
    await threads.stop()
  }

  private func serve(_ peer: ControlPeer) async {
    if let request = await peer.request() {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await answer(request, to: peer) }
        group.addTask {
          while !peer.isGone, (try? await Task.sleep(for: Self.watch)) != nil {}
        }
        _ = await group.next()
        group.cancelAll()
      }
    } else {
      await peer.send(.failure("The server does not know the request"))
    }
    peer.close()
  }

  private func answer(_ request: ControlPeer.Request, to peer: ControlPeer) async {
    let reporter = ScrubReporter { finding in
      peer.sendBlocking(.finding(file: finding.file, reason: finding.reason))
    } progress: { done, total in
      peer.offer(.progress(done: done, of: total))
    }
    do {
      switch request {
      case .backup(let path):
        let summary = try await StoreBackups.requireFiles(backups).backUp(to: path, reporter)
        logger.info(
          "a backup was made",
          metadata: ["files": "\(summary.files)", "bytes": "\(summary.bytes)"])
        await peer.send(.result(message: summary.message, isDamaged: summary.isDamaged))
      case .user(let request):
        let message = try await users.perform(request) { await peer.send(.text($0)) }
        await peer.send(.result(message: message, isDamaged: false))
      case .move(let url, let password):
        let to = try MoveEndpoint(url, password: password)
        let report = LiveMove.Report {
          peer.offer(.progress(done: $0, of: $1))
        } line: {
          await peer.send(.text($0))
        }
        let outcome = try await MoveAdministration.moveWhileServing(backups, to: to, report)
        if !outcome.isDamaged {
          logger.warning(
            "the stores were moved; nothing can be changed here any more",
            metadata: ["detail": "\(to.description)"])
        }
        await peer.send(
          .result(
            message: outcome.lines.joined(separator: "\n"), isDamaged: outcome.isDamaged))
      case .repair:
        let outcome = try await StoreBackups.requireFiles(backups).repair(reporter)
        await peer.send(.result(message: outcome.message, isDamaged: outcome.isDamaged))
      case .replace(let store, let backup):
        let outcome = try await StoreBackups.requireFiles(backups).replace(
          store, from: backup, reporter)
        await peer.send(.result(message: outcome.message, isDamaged: outcome.isDamaged))
      case .verify:
        let counts = try await StoreBackups.requireFiles(backups).verify(reporter)
        await peer.send(
          .result(message: Verification.message(for: counts), isDamaged: counts.findings > 0))
      }
    } catch {
      let message = error is CancellationError ? "The server stops" : StartFailure.line(error)
      logger.warning("what was asked for was not done", metadata: ["detail": "\(message)"])
      await peer.send(
        .failure(message, isConfiguration: StartFailure.isConfiguration(error)))
    }
  }
}

extension StoreBackups.Summary {
  /// Whether anything in the data directory is damaged.
  var isDamaged: Bool { missing > 0 || damages > 0 }

  /// The result of the backup as text.
  var message: String {
    let missing = missing > 0 ? ", \(missing) damaged stores left out" : ""
    let damages = damages > 0 ? ", \(damages) damages in stores that are in it" : ""
    return "\(files) files, \(bytes) bytes\(missing)\(damages)"
  }
}
