import Accounts
import Compression
import HTTPServer
import HTTPTypes
import Hotels
import Hummingbird
import JSON
import Lanes
import Lists
import NIOCore
import Stores

/// One's own data: all of it as a stream, and such a stream read in.
extension HTTPService {
  /// `/v1/me/export` and `/v1/me/import`.
  var portabilityRoutes: [Route] {
    [
      .person(.get, "/v1/me/export") { call, person in try await export(call, person) },
      .person(.post, Route.importTemplate) { call, person in
        guard person.kind == .user else {
          throw ServiceError(
            .accountNeeded, "An export is read into a user's account: sign up first")
        }
        let counts = try await fill(with: call, for: person) {
          guard try await accounts.isStillGood(person) else {
            throw ServiceError.invalidToken("ended")
          }
        }
        return .json(headers: Self.private) { counts.write(to: &$0) }
      },
    ]
  }

  /// The first piece is read before the answer begins, so that what fails is a status still.
  private func export(_ call: Call, _ person: Principal) async throws -> Response {
    _ = try call.query()
    let account = ExportedAccount(
      id: person.id, kind: person.kind.rawValue, username: person.username,
      created: try await accounts.creation(of: person))
    let owned = person.kind == .user ? try await lists.lists(ownedBy: person.id) : []
    let sections =
      [(name: ExportFormat.own, store: person.store)]
      + owned.map { (name: ExportFormat.list($0), store: StoreName.list($0)) }
    var export = AccountExport(
      of: account, made: now(), from: stores, sections, .ofBookmarks)
    let first = try await export.next() ?? []
    let store = CouchStore(
      stores: stores, lists: lists, name: person.store, database: person.storeName,
      caller: person)
    let place = try await feeds.enter(reader(call, store, waits: false))
    ClientWatch.tell(call.context.channel) { [signal = place.signal] in signal.end(.clientLeft) }
    var fields = Self.private
    fields[.contentType] = "application/x-ndjson"
    fields[.vary] = "Accept-Encoding"
    if call.takesGzip { fields[.contentEncoding] = "gzip" }
    let stream = ExportStream(
      export: export, first: first, place: place, isPacked: call.takesGzip)
    return Response(
      status: .ok, headers: fields,
      body: ResponseBody { writer in try await stream.write(to: &writer) })
  }

  /// Fills a store with what an export says.
  /// - Parameter permit: throws where the caller may not any more, before the store is there for others.
  private func fill(
    with call: Call, for person: Principal, permit: () async throws -> Void
  ) async throws -> ExportCounts {
    _ = try call.query()
    guard let owner = ListMember(person, as: .owner, at: now()) else { throw Problem.notFound }
    let imported = ListImport(lists, for: owner)
    do {
      let counts = try await fill(with: call, person.store, imported, permit: permit)
      try await imported.finish()
      return counts
    } catch {
      // What can't be removed now is at the next start.
      try? await imported.finish()
      throw error
    }
  }

  private func fill(
    with call: Call, _ name: StoreName, _ imported: ListImport, permit: () async throws -> Void
  ) async throws -> ExportCounts {
    try await stores.fill(name) { store in
      var reading = AccountImport(into: store, .ofBookmarks) { list in
        try await imported.target(of: list)
      }
      var held = 0
      for try await bytes in try call.bodyAsItComes() {
        try await reading.take(bytes)
        try call.hold(reading.heldBytes, beyond: &held)
      }
      let counts = try await reading.finish()
      try await permit()
      // What follows is one step.
      Work.current?.mustFinish()
      try await imported.prepare(store)
      return counts
    }
  }
}

/// Writes an export to a client, no faster than it is taken. It ends when the client goes away, and is cut short, without
/// a manifest, when the account may read it no longer or the store is gone.
struct ExportStream: Sendable {
  /// What is to be read.
  let export: AccountExport
  /// What was read of it.
  let first: [UInt8]
  /// The place among long answers.
  let place: CouchFeedPlace
  /// Whether it is sent as gzip.
  let isPacked: Bool

  /// An answer that can't be finished and must not look as if it were.
  private struct Cut: Error {}

  /// Writes everything.
  /// - Throws: what reading throws and what the connection throws; the answer is cut short then.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    defer { place.leave() }
    let packer = isPacked ? try GzipWriter(level: 4) : nil
    var (export, piece) = (export, Optional(first))
    // Also without bytes: the head is sent with it.
    try await writer.write(ByteBuffer())
    while let bytes = piece {
      Work.current?.moves(bytes: bytes.count)
      try await send(try await Self.packed(bytes, by: packer), to: &writer)
      piece = try await export.next()
    }
    if let packer { try await send(packer.finish(), to: &writer) }
    try await writer.finish(nil)
  }

  private static func packed(_ bytes: [UInt8], by packer: GzipWriter?) async throws -> [UInt8] {
    guard let packer else { return bytes }
    var rest = bytes[...]
    while !rest.isEmpty {
      packer.append(rest.prefix(GzipWriter.pieceBytes))
      rest = rest.dropFirst(GzipWriter.pieceBytes)
      try await Slice.giveWay()
    }
    return packer.takePacked()
  }

  /// Writes in pieces, each of which the client has to take in time.
  /// - Throws: ``Cut`` when nothing more may be sent.
  @concurrent private func send(
    _ bytes: [UInt8], to writer: inout any ResponseBodyWriter
  ) async throws {
    var rest = ByteBuffer(bytes: bytes)
    while let piece = rest.readSlice(
      length: min(rest.readableBytes, CouchChangesStream.chunkBytes)),
      piece.readableBytes > 0
    {
      guard place.signal.end == nil else { throw Cut() }
      place.signal.beginWrite()
      defer { place.signal.endWrite() }
      try await writer.write(piece)
    }
  }
}
