import Accounts
import Documents
import HTTPServer
import HTTPTypes
import Hotels
import Hummingbird
import Lists
import Scheduling
import Stores
import Synchronization

/// The caller's own data: exported as a stream, and imported from such a stream.
struct PortabilityController: Sendable {
  let accounts: AccountService
  let lists: ListService
  let stores: DatabaseManager
  /// The imports that are under way.
  let imports: ImportPlaces
  /// The streams that are being written.
  let feeds: Feeds
  /// Gives each person their own store.
  let databases: CouchDatabaseAccess
  let now: @Sendable () -> Timestamp

  var routes: [Route] {
    [
      Route(.get, "/v1/me/export", access: .person, answer: .uncached, run: export),
      // An import ends with its client; only its last step is completed.
      Route(.post, "/v1/me/import", access: .person, answer: .kept) { call, person in
        guard person.kind == .user else {
          throw ServiceError(
            .accountNeeded, "An export is read into a user's account: sign up first")
        }
        return try await fill(with: call, for: person) {
          guard try await accounts.isStillValid(person) else {
            throw ServiceError.invalidToken("ended")
          }
        }
      },
    ]
  }

  /// Reads the first piece before the answer begins, so that an early error still gets its status.
  private func export(_ call: Call, _ person: Principal) async throws -> Response {
    _ = try call.query()
    let account = ExportedAccount(
      id: person.id, kind: person.kind.rawValue, username: person.username,
      displayName: try await accounts.name(of: person)?.displayName,
      created: try await accounts.creation(of: person))
    let owned = person.kind == .user ? try await lists.lists(ownedBy: person.id) : []
    let sections =
      [(name: ExportFormat.own, store: person.store)]
      + owned.map { (name: ExportFormat.list($0), store: StoreName.list($0)) }
    var export = AccountExport(of: account, made: now(), from: stores, sections, .ofBookmarks)
    let first = try await export.next() ?? []
    var fields: HTTPFields = [
      .contentType: Self.mediaType(for: call), .vary: "Accept, Accept-Encoding",
    ]
    if call.takesGzip { fields[.contentEncoding] = "gzip" }
    return try feeds.response(
      ExportForm(export, first: first, isPacked: call.takesGzip), to: call,
      from: databases.own(of: person, as: call.writeContext), waits: false, fields)
  }

  /// `application/octet-stream` for a client that accepts it and no lines of JSON, as some generators' clients do.
  private static func mediaType(for call: Call) -> String {
    let (lines, bytes) = ("application/x-ndjson", "application/octet-stream")
    let accepted = call[.accept]?.lowercased() ?? lines
    return accepted.contains(bytes) && !accepted.contains(lines) ? bytes : lines
  }

  /// Fills a store with the content of an export.
  /// - Parameter permit: throws if the caller's permission has ended. It runs before others can see the store.
  private func fill(
    with call: Call, for person: Principal, permit: () async throws -> Void
  ) async throws -> Response {
    _ = try call.query()
    guard let owner = ListMember(person, as: .owner, at: now()) else { throw Problem.notFound }
    let place = try imports.take(from: call.address, as: person.id.text)
    defer { imports.give(place) }
    let imported = ListImport(lists, for: owner, as: call.writeContext)
    do {
      let counts = try await fill(with: call, person.store, imported, in: place, permit: permit)
      let answer = WriteAnswer.json(.ok, headers: [:]) { counts.write(to: &$0) }
      // Another import without documents may have taken the place of this one.
      guard try await imported.finish(answer: { $0 ? answer.kept : nil }) else {
        throw ServiceError.beingFilled
      }
      var response = answer.response
      response.headers[.cacheControl] = Response.uncached
      return response
    } catch {
      // A task of its own, because the request may have ended. If the cleanup fails now, the next start repeats it.
      await Work.waiting { await Work.shared { _ = try? await imported.finish() }.value }
      throw error
    }
  }

  private func fill(
    with call: Call, _ name: StoreName, _ imported: ListImport, in place: ImportPlaces.Place,
    permit: () async throws -> Void
  ) async throws -> ExportCounts {
    try await stores.fill(name) { store in
      var reading = AccountImport(into: store, as: call.writeContext, .ofBookmarks) { list in
        try await imported.target(of: list)
      }
      var (reserved, renewed) = (0, now())
      for try await bytes in try call.streamedBody() {
        try place.check()
        if renewed.adding(seconds: ListImport.renewalSeconds) <= now() {
          try await imported.renew(store)
          renewed = now()
        }
        try await reading.take(bytes)
        try call.reserve(reading.heldBytes, beyond: &reserved)
      }
      let counts = try await reading.finish()
      try await permit()
      // The rest belongs together.
      Work.current?.mustFinish()
      try await imported.prepare(store)
      return counts
    }
  }
}

/// An export, without a manifest if it ends early.
struct ExportForm: LongAnswerForm {
  private var export: AccountExport
  /// The part that is read already.
  private var first: [UInt8]?
  /// Nil for an export that is not packed.
  private let packer: Packer?

  private final class Packer: Sendable {
    let gzip: Mutex<GzipWriter>

    init() throws { gzip = Mutex(try GzipWriter(level: 4)) }
  }

  /// - Parameter isPacked: whether it is sent as gzip.
  init(_ export: AccountExport, first: [UInt8], isPacked: Bool) throws {
    (self.export, self.first) = (export, first)
    packer = isPacked ? try Packer() : nil
  }

  mutating func next(after news: Subscription.News) async throws -> LongAnswerPart {
    let piece = if let first { first } else { try await export.next() }
    first = nil
    guard let piece else {
      let end = packer?.gzip.withLock { $0.finish() }
      return LongAnswerPart(pieces: end.map { [$0] } ?? [], following: .nothing, closing: [])
    }
    return LongAnswerPart(pieces: [try await packed(piece)], following: .more)
  }

  private func packed(_ bytes: [UInt8]) async throws -> [UInt8] {
    guard let packer else { return bytes }
    Work.current?.addMovedBytes(bytes.count)
    var rest = bytes[...]
    while !rest.isEmpty {
      packer.gzip.withLock { $0.append(rest.prefix(GzipWriter.pieceBytes)) }
      rest = rest.dropFirst(GzipWriter.pieceBytes)
      try await Slice.giveWay()
    }
    return packer.gzip.withLock { $0.takePacked() }
  }
}
