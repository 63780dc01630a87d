import CPostgres
import Glibc
import Lanes

/// One connection to a PostgreSQL server: statements go out together and their answers come back in order, by libpq's
/// pipeline mode (<https://www.postgresql.org/docs/current/libpq-pipeline-mode.html>).
///
/// Confined to the ``Session`` that owns it, on whose thread every call blocks.
final class Connection {
  /// How long the server may be silent while an answer is due, in milliseconds. A commit that waits so long for a
  /// standby counts as of unknown outcome; dead connections are noticed sooner, by TCP.
  static let longestSilence: Int32 = 8_000

  /// What an answer belongs to.
  private enum Expected {
    case preparation(String)
    case rows
    case sync
  }

  private let handle: OpaquePointer
  /// What the server said beside its answers.
  let notices: Notices
  /// The names of the statements that the server knows.
  private var prepared: Set<String> = []
  /// Answers that nobody asks for: they are read before those of the next statements.
  private var owed: [Expected] = []
  /// How often statements went out and were waited for.
  private(set) var roundTrips = 0
  /// Whether the connection is of no use any more.
  private(set) var isBroken = false

  /// Takes over a connection that libpq has made, and puts it into pipeline mode.
  init(_ handle: OpaquePointer) throws {
    self.handle = handle
    notices = Notices(of: handle)
    guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
      throw lost()
    }
  }

  deinit { PQfinish(handle) }

  /// The server's process, for tests.
  var backend: Int32 { PQbackendPID(handle) }

  /// Whether the socket still stands, as far as that can be told without waiting.
  var isAlive: Bool {
    guard !isBroken, PQstatus(handle) == CONNECTION_OK else { return false }
    var entry = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    // Nothing to read: nobody has closed it. Answers that are owed may be read; what comes unasked is mostly an end.
    return poll(&entry, 1, 0) == 0 || !owed.isEmpty && PQconsumeInput(handle) == 1
  }

  /// Sends statements in one go and reads their answers; one that is refused takes those behind it with it.
  /// - Returns: the rows of each.
  /// - Throws: ``PostgresError``, the first refusal.
  func run(_ calls: [Call]) throws -> [Rows] {
    guard !isBroken else { throw PostgresError.lost("the connection was given up") }
    let expected = try send(calls)
    roundTrips += 1
    let former = owed
    owed = []
    return try LanePool.blocking {
      _ = try? read(former)
      guard !isBroken else { throw PostgresError.lost("the connection broke before") }
      return try read(expected)
    }
  }

  /// Runs a statement that is not used again, such as one that makes a table.
  @discardableResult
  func execute(_ sql: String) throws -> Rows {
    let found = try run([Call(Statement("", sql))])
    return found[0]
  }

  /// Sends a statement whose answer nobody waits for.
  func runLater(_ call: Call) {
    do {
      owed += try send([call])
      if PQflush(handle) < 0 { isBroken = true }
    } catch { isBroken = true }
  }

  /// The texts of the notifications that arrive within a time, in milliseconds; see `LISTEN`. Returns as soon as there
  /// is one.
  func notifications(within milliseconds: Int32) throws -> [String] {
    var entry = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    if poll(&entry, 1, milliseconds) > 0, PQconsumeInput(handle) == 0 { throw lost() }
    var texts: [String] = []
    while let notification = PQnotifies(handle) {
      texts.append(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
    return texts
  }

  /// Hands statements to libpq.
  /// - Returns: which answers are due.
  private func send(_ calls: [Call]) throws -> [Expected] {
    var expected: [Expected] = []
    var new: Set<String> = []
    for call in calls {
      let name = "\(call.statement.name)"
      // What has no name is prepared for this call alone.
      if name.isEmpty || !prepared.contains(name) && new.insert(name).inserted {
        guard PQsendPrepare(handle, name, call.statement.sql, 0, nil) == 1 else { throw lost() }
        expected.append(.preparation(name))
      }
      guard send(call, name) else { throw lost() }
      expected.append(.rows)
    }
    guard PQpipelineSync(handle) == 1 else { throw lost() }
    return expected + [.sync]
  }

  private func send(_ call: Call, _ name: String) -> Bool {
    let values = call.values.map(\.encoded)
    var buffer: [UInt8] = []
    for value in values { buffer += value ?? [] }
    // A pointer even to values of no bytes: one that is nil says NULL.
    buffer.append(0)
    return buffer.withUnsafeBytes { bytes in
      var (place, pointers, lengths): (Int, [UnsafePointer<CChar>?], [Int32]) = (0, [], [])
      for value in values {
        pointers.append(
          value == nil
            ? nil : bytes.baseAddress?.advanced(by: place).assumingMemoryBound(to: CChar.self))
        lengths.append(Int32(value?.count ?? 0))
        place += value?.count ?? 0
      }
      let formats = [Int32](repeating: 1, count: values.count)
      return PQsendQueryPrepared(
        handle, name, Int32(values.count), pointers, lengths, formats, 1) == 1
    }
  }

  /// Reads answers in order.
  private func read(_ expected: [Expected]) throws -> [Rows] {
    var (found, failure): ([Rows], PostgresError?) = ([], nil)
    for answer in expected {
      guard let result = try nextResult() else { throw lost() }
      let status = PQresultStatus(result)
      if status == PGRES_FATAL_ERROR {
        let error = PostgresError(result)
        PQclear(result)
        failure = failure ?? error
        if error.isOfConnection { isBroken = true }
        if error.isLost { throw error }
      } else if case .rows = answer, status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK {
        found.append(Rows(result))
      } else {
        if case .preparation(let name) = answer, !name.isEmpty, status == PGRES_COMMAND_OK {
          prepared.insert(name)
        }
        PQclear(result)
      }
      // Behind each answer but that of a sync stands a nil.
      if case .sync = answer {
        guard status == PGRES_PIPELINE_SYNC else { throw lost() }
      } else if let more = try nextResult() {
        PQclear(more)
        throw lost()
      }
    }
    if let failure { throw failure }
    return found
  }

  /// The next result, once it is there.
  private func nextResult() throws -> OpaquePointer? {
    while true {
      let flushed = PQflush(handle)
      guard flushed >= 0 else { throw lost() }
      if flushed == 0, PQisBusy(handle) == 0 { return PQgetResult(handle) }
      var entry = pollfd(
        fd: PQsocket(handle), events: Int16(flushed == 0 ? POLLIN : POLLIN | POLLOUT), revents: 0)
      let ready = poll(&entry, 1, Self.longestSilence)
      if ready < 0, errno == EINTR { continue }
      guard ready > 0 else {
        isBroken = true
        throw PostgresError.lost("no answer in \(Self.longestSilence) ms")
      }
      if entry.revents & Int16(POLLIN | POLLERR | POLLHUP) != 0, PQconsumeInput(handle) == 0 {
        // What the server said before it closed may be read still.
        if PQisBusy(handle) == 0, let result = PQgetResult(handle) { return result }
        throw lost()
      }
    }
  }

  /// The connection is of no use any more.
  private func lost() -> PostgresError {
    isBroken = true
    return .lost(PQerrorMessage(handle).map { String(cString: $0) } ?? "")
  }
}

extension PostgresError {
  /// An error as libpq hands it over.
  init(_ result: OpaquePointer?) {
    self.init(
      severity: Self.field(86, of: result), state: Self.field(67, of: result),
      message: Self.field(77, of: result))
  }

  /// A field of an error or a notice: `V` is the severity in English, `C` the SQLSTATE, `M` the message.
  /// <https://www.postgresql.org/docs/current/protocol-error-fields.html>
  static func field(_ code: Int32, of result: OpaquePointer?) -> String {
    PQresultErrorField(result, code).map { String(cString: $0) } ?? ""
  }
}

/// What a server says beside its answers.
///
/// libpq calls back on the thread that reads, which is the one to which the connection is confined.
final class Notices {
  /// Warnings since they were last taken: SQLSTATE and words.
  private(set) var warnings: [(state: String, message: String)] = []

  /// Collects the notices of a connection, which must not outlive this object.
  init(of handle: OpaquePointer) {
    PQsetNoticeReceiver(
      handle,
      { context, result in
        guard let context else { return }
        let notices = Unmanaged<Notices>.fromOpaque(context).takeUnretainedValue()
        notices.take(result)
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Whether there is none.
  var isEmpty: Bool { warnings.isEmpty }

  /// Forgets them.
  func clear() { warnings = [] }

  /// The warning that a commit was not replicated: the transaction is committed here, and the answer that follows is
  /// `COMMIT`, but no standby has it. 01000 when the wait was cancelled, 57P01 when the server ends.
  /// Source: PostgreSQL, `SyncRepWaitForLSN`.
  var unreplicated: String? {
    warnings.first { $0.state == "01000" || $0.state == "57P01" }.map {
      "\($0.state) \($0.message)"
    }
  }

  private func take(_ result: OpaquePointer?) {
    guard PostgresError.field(86, of: result) == "WARNING" else { return }
    warnings.append((PostgresError.field(67, of: result), PostgresError.field(77, of: result)))
  }
}
