import CPostgres
import Glibc
import Scheduling

/// One connection to a PostgreSQL server. It sends several statements at once and reads their answers in order, with
/// libpq's pipeline mode (<https://www.postgresql.org/docs/current/libpq-pipeline-mode.html>).
///
/// Confined to its owner, such as a ``Session``. Every call blocks the owner's thread.
final class Connection {
  /// The longest time that the server may send nothing while an answer is due, in milliseconds. If a commit waits longer
  /// for a standby, its outcome counts as unknown. TCP detects dead connections earlier.
  var longestSilence: Int32
  /// How long the thread waits for an answer before it checks whether it is still wanted, in milliseconds.
  private static let step: Int32 = 100

  /// For how long the server uses a plan at most. At first the interval is a second, and then each is twice as long.
  private static let longestPlanningInterval = Duration.seconds(60)

  /// The kind of an answer that is due.
  private enum Expected {
    case preparation(of: String, as: String)
    case rows
    case sync
  }

  private let handle: OpaquePointer
  /// What this node knows of the database's servers.
  private let servers: KnownServers
  /// Notes that the server has not answered for ``longestSilence``.
  private let noteHang: () -> Void
  /// The notices that the server has sent.
  let notices: Notices
  /// The server's timeline when the connection was made; see ``NewestTimeline``. 0 if it was not asked.
  var timeline: Int64 = 0
  /// The names of the statements that are prepared on this connection, by their SQL.
  private var prepared: [String: String] = [:]
  /// How many statements were sent to be prepared; it makes their names.
  private var preparations = 0
  /// Answers to ``runLater(_:)`` that are not read yet. They are read before the answers to the next statements.
  private var owed: [Expected] = []
  /// The answers to ``begin(_:)`` that are due.
  private var awaited: [Expected] = []
  /// The number of round trips: how often statements were sent and their answers were awaited.
  private(set) var roundTrips = 0
  /// How long the connection has waited for the server so far, in nanoseconds. It has one user at a time.
  var waited: Int64 { clock?.waited ?? 0 }
  /// Whether the connection is unusable.
  private(set) var isBroken = false
  /// Whether the server has not answered for ``longestSilence``. It may still be at work, as while a commit waits for a
  /// standby, and does not notice that a client is gone.
  private(set) var isHung = false
  private var planningInterval = Duration.milliseconds(500)
  private var nextPlanning = ContinuousClock.now
  /// Whether the server has refused a statement because its disk is full, since this was last set to false.
  var hasLackedSpace = false

  /// Says when the connection waits for the server, and who pays; nil on a thread that belongs to no pool.
  var clock: CallClock?

  /// Takes ownership of a connection that libpq has made, and switches it to pipeline mode.
  /// - Parameter noteHang: called when the server has not answered for ``longestSilence``.
  init(
    _ handle: OpaquePointer, _ servers: KnownServers, longestSilence: Int32,
    _ noteHang: @escaping () -> Void
  ) throws {
    self.longestSilence = longestSilence
    self.handle = handle
    self.servers = servers
    self.noteHang = noteHang
    notices = Notices(of: handle)
    guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { throw lost() }
  }

  deinit { PQfinish(handle) }

  /// The id of the server's process, for tests.
  var backend: Int32 { PQbackendPID(handle) }

  /// Whether another server has become the primary, so that answers of this one may be old.
  private var isFormer: Bool { timeline > 0 && timeline < servers.timeline.value }

  /// Whether the connection is still open, as far as a check without waiting can tell, and no newer primary is known.
  var isAlive: Bool {
    guard !isBroken, !isFormer, PQstatus(handle) == CONNECTION_OK else { return false }
    var entry = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    // Nothing to read means that the server has not closed the connection. While answers are owed, data may arrive.
    // Otherwise, data usually means that the server is closing the connection.
    return poll(&entry, 1, 0) == 0
      || !(owed.isEmpty && awaited.isEmpty) && PQconsumeInput(handle) == 1
  }

  /// Whether the server's session has ended, or its work has: it has sent something, or closed the connection. Used after
  /// ``isHung``. Sessions of a former primary don't count.
  var isOver: Bool {
    var entry = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    return isFormer || PQstatus(handle) != CONNECTION_OK || poll(&entry, 1, 0) != 0
  }

  /// Waits for the server. Another thread of the pool may compute meanwhile.
  private func waiting<Value>(_ body: () throws -> Value) throws -> Value {
    guard let clock else { return try body() }
    return try clock.blocking(body)
  }

  /// Does something for other requests, each of which pays an equal part.
  func charging<Value>(_ works: [Work?], _ body: () throws -> Value) throws -> Value {
    guard let clock else { return try body() }
    return try clock.charging(works, body)
  }

  /// Sends statements together and reads their answers. When the server refuses a statement, it skips all statements
  /// after it.
  /// - Returns: the rows of each statement, in order.
  /// - Throws: ``PostgresError``: the first refusal, or the loss of the connection.
  func run(_ calls: [Call]) throws -> [Rows] {
    guard !isBroken else { throw PostgresError.lost("the connection was given up") }
    let expected = try send(calls)
    roundTrips += 1
    let former = owed
    owed = []
    return try waiting {
      _ = try? read(former)
      guard !isBroken else { throw PostgresError.lost("the connection broke before") }
      let found = try read(expected)
      try requireNewest()
      return found
    }
  }

  /// Sends statements, whose answers ``answers(within:)`` returns. Nothing else may be sent before.
  func begin(_ calls: [Call]) throws {
    guard !isBroken else { throw PostgresError.lost("the connection was given up") }
    awaited = try send(calls)
    guard PQflush(handle) >= 0 else { throw lost() }
  }

  /// Whether answers to ``begin(_:)`` are due.
  var isAwaiting: Bool { !awaited.isEmpty }

  /// Waits for the answers to ``begin(_:)``.
  /// - Returns: nil if none has come.
  /// - Throws: as ``run(_:)``.
  func answers(within milliseconds: Int32) throws -> [Rows]? {
    var entry = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    return try waiting {
      // `isAlive` may have taken the answer from the socket.
      guard PQisBusy(handle) == 0 || poll(&entry, 1, milliseconds) != 0 else { return nil }
      let expected = awaited
      awaited = []
      let found = try read(expected)
      try requireNewest()
      return found
    }
  }

  /// - Throws: ``PostgresError/lost(_:)`` if another server has become the primary: an answer of this one may be old, and
  ///   what it has committed may be lost.
  private func requireNewest() throws {
    guard isFormer else { return }
    isBroken = true
    throw PostgresError.lost("timeline \(timeline) is that of a former primary")
  }

  /// Runs statements in a transaction of their own.
  /// - Returns: the rows of each statement, in order.
  /// - Throws: as ``run(_:)``.
  func transact(_ calls: [Call]) throws -> [Rows] {
    try undoingFailures {
      Array(try run([Call(.begin)] + calls + [Call(.commit)])[1...calls.count])
    }
  }

  /// Runs the statements of a transaction, and rolls it back if one fails.
  func undoingFailures<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch {
      rollBack()
      throw error
    }
  }

  /// Rolls the transaction back without waiting for the answer.
  func rollBack() {
    if !isBroken { runLater(Call(.rollback)) }
  }

  /// Runs a statement that is used only once, such as `CREATE TABLE`.
  @discardableResult
  func execute(_ sql: String) throws -> Rows {
    let found = try run([Call(Statement(once: sql))])
    return found[0]
  }

  /// Sends a statement without waiting for its answer. A failure marks the connection as broken.
  func runLater(_ call: Call) {
    do {
      owed += try send([call])
      if PQflush(handle) < 0 { isBroken = true }
    } catch { isBroken = true }
  }

  /// Lets the server forget its plans at growing intervals, because tables grow: a plan that was made for a small table
  /// may read all rows of a store by the wrong index.
  func forgetOldPlans() {
    let now = ContinuousClock.now
    guard now >= nextPlanning else { return }
    planningInterval = min(planningInterval * 2, Self.longestPlanningInterval)
    nextPlanning = now + planningInterval
    runLater(Call(.forgetPlans))
  }

  /// Waits for notifications (see `LISTEN`) and returns their texts. Returns as soon as the server has sent something.
  /// - Parameter milliseconds: the longest wait.
  func notifications(within milliseconds: Int32) throws -> [String] {
    try requireNewest()
    var entry = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
    if poll(&entry, 1, milliseconds) > 0, PQconsumeInput(handle) == 0 { throw lost() }
    var texts: [String] = []
    while let notification = PQnotifies(handle) {
      texts.append(String(cString: notification.pointee.extra))
      PQfreemem(notification)
    }
    return texts
  }

  /// Gives statements to libpq.
  /// - Returns: the answers that are due, in order.
  private func send(_ calls: [Call]) throws -> [Expected] {
    var expected: [Expected] = []
    var new: [String: String] = [:]
    for call in calls {
      let sql = call.statement.sql
      // A statement without a name is prepared for this call only.
      let known = call.statement.isKept ? prepared[sql] ?? new[sql] : ""
      let name = known ?? "s\(preparations)"
      if known?.isEmpty ?? true {
        guard PQsendPrepare(handle, name, sql, 0, nil) == 1 else { throw lost() }
        expected.append(.preparation(of: sql, as: name))
        (new[sql], preparations) = (name, preparations + 1)
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
    // With one more byte, even an empty value has a pointer. For libpq, a nil pointer means NULL.
    buffer.append(0)
    return buffer.withUnsafeBytes { bytes in
      var (offset, pointers, lengths): (Int, [UnsafePointer<CChar>?], [Int32]) = (0, [], [])
      for value in values {
        pointers.append(
          value == nil
            ? nil : bytes.baseAddress?.advanced(by: offset).assumingMemoryBound(to: CChar.self))
        lengths.append(Int32(value?.count ?? 0))
        offset += value?.count ?? 0
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
        if error.isOfSpace { hasLackedSpace = true }
        if error.isLost { throw error }
      } else if case .rows = answer, status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK {
        found.append(Rows(result))
      } else {
        if case .preparation(let sql, let name) = answer, !name.isEmpty, status == PGRES_COMMAND_OK
        {
          prepared[sql] = name
        }
        PQclear(result)
      }
      // After each answer except that to a sync, libpq returns nil.
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

  /// Waits for the next result. Nil marks the end of the results of one statement.
  private func nextResult() throws -> OpaquePointer? {
    var silence: Int32 = 0
    while true {
      let flushed = PQflush(handle)
      guard flushed >= 0 else { throw lost() }
      if flushed == 0, PQisBusy(handle) == 0 { return PQgetResult(handle) }
      var entry = pollfd(
        fd: PQsocket(handle), events: Int16(flushed == 0 ? POLLIN : POLLIN | POLLOUT), revents: 0)
      let step = min(Self.step, longestSilence - silence)
      let ready = poll(&entry, 1, step)
      if ready < 0, errno == EINTR { continue }
      if ready == 0, silence + step < longestSilence, isWanted {
        silence += step
        continue
      }
      guard ready > 0 else {
        isBroken = true
        isHung = isWanted
        noteHang()
        throw PostgresError.lost("no answer in \(silence + step) ms")
      }
      silence = 0
      if entry.revents & Int16(POLLIN | POLLERR | POLLHUP) != 0, PQconsumeInput(handle) == 0 {
        // A result that arrived before the server closed the connection can still be read.
        if PQisBusy(handle) == 0, let result = PQgetResult(handle) { return result }
        throw lost()
      }
    }
  }

  /// Whether an answer that comes now would be used. Connections that look for the primary wait in any case.
  private var isWanted: Bool { timeline == 0 || !isFormer && !servers.isCutOff() }

  /// Marks the connection as broken and returns the error with libpq's message.
  private func lost() -> PostgresError {
    isBroken = true
    return .lost(PQerrorMessage(handle).map { String(cString: $0) } ?? "")
  }
}

extension PostgresError {
  /// Creates an error from a result of libpq.
  init(_ result: OpaquePointer?) {
    self.init(
      severity: Self.field(86, of: result), state: Self.field(67, of: result),
      message: Self.field(77, of: result))
  }

  /// A field of an error or a notice. The code is an ASCII letter: 86, `V`, is the severity in English; 67, `C`, the
  /// SQLSTATE; 77, `M`, the message.
  /// <https://www.postgresql.org/docs/current/protocol-error-fields.html>
  static func field(_ code: Int32, of result: OpaquePointer?) -> String {
    PQresultErrorField(result, code).map { String(cString: $0) } ?? ""
  }
}

/// The notices that a server sends in addition to its answers.
///
/// libpq calls the receiver on the thread that reads. The connection is confined to this thread.
final class Notices {
  /// The warnings since the last ``clear()``: SQLSTATE and message.
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

  /// Removes the warnings.
  func clear() { warnings = [] }

  /// The warning that a commit was not replicated; nil if there is none. The transaction is then committed on this
  /// server, and the server answers `COMMIT`, but no standby has confirmed it. The SQLSTATE is 01000 when the wait was
  /// cancelled, and 57P01 when the server shuts down. Source: PostgreSQL, `SyncRepWaitForLSN`.
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
