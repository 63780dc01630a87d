import Documents
import NIOConcurrencyHelpers
import Stores

/// What a reader of a damaged store leaves out.
final class LeftOutRows: Sendable {
  private struct State {
    var header: StoreHeader?
    var bodies: Set<DamageSearch.BodyPlace> = []
    var documents: Set<Int64> = []
    var locals: Set<[UInt8]> = []
    var reasons: [String] = []
  }

  private let state = NIOLockedValueBox(State())

  /// Nothing is left out yet.
  init() {}

  /// The counts of what is read; nil before it is known.
  var header: StoreHeader? { state.withLockedValue { $0.header } }
  /// A line for each damage that was found.
  var reasons: [String] { state.withLockedValue { $0.reasons } }

  /// Sets the counts of what is read.
  func note(_ header: StoreHeader) { state.withLockedValue { $0.header = header } }

  /// Notes the damaged documents and bodies of a page.
  func note(_ search: DamageSearch) {
    state.withLockedValue { state in
      state.bodies.formUnion(search.damagedBodies)
      for (number, finding) in search.findings where state.documents.insert(number).inserted {
        state.reasons.append(finding.reason)
      }
    }
  }

  /// Notes a damaged local document.
  func noteLocal(_ id: [UInt8]) {
    state.withLockedValue { state in
      guard state.locals.insert(id).inserted else { return }
      state.reasons.append("a local document fails its checksum")
    }
  }

  /// Notes that the store's own row can't be read.
  func note(_ error: ServiceError) {
    state.withLockedValue { $0.reasons.append(StoreReader.message(of: error)) }
  }

  /// Whether a body is left out.
  func contains(_ place: DamageSearch.BodyPlace) -> Bool {
    state.withLockedValue { $0.bodies.contains(place) }
  }
}

extension StoreHeader {
  /// Whether two headers count the same rows.
  fileprivate func countsEqual(_ other: StoreHeader) -> Bool {
    live == other.live && deleted == other.deleted && bytes == other.bytes
      && newest == other.newest && otherBodyBytes == other.otherBodyBytes
  }
}

/// Reading a damaged store without what is damaged.
extension StoreReader {
  /// Looks through the store, so that the counts of what is sound are known.
  /// - Parameter key: the store's key.
  /// - Returns: a line for each damage.
  /// - Throws: `absent`, and errors other than damage.
  func findDamage(of key: String) async throws -> [String] {
    guard let leftOut else { return [] }
    var (header, stored) = (StoreHeader(key: key, epoch: epoch), StoreHeader?.none)
    do {
      let found = try await reading { source in try source.storeRow() }
      header.epoch = found.info.epoch
      header.lastSequence = found.header.lastSequence
      stored = found.header
    } catch let error as ServiceError where error.code == .damaged { leftOut.note(error) }
    var last: Int64? = .min
    while let start = last {
      let (search, sizes) = try await reading { source in
        let search = try DamageSearch(after: start, in: source)
        return (search, search.documents)
      }
      leftOut.note(search)
      for document in sizes {
        header.newest = document.row.sequence
        header.live += document.row.isDeleted ? 0 : 1
        header.deleted += document.row.isDeleted ? 1 : 0
        header.bytes += Int64(document.body.bytes.count)
      }
      let firsts = sizes.map(\.row.first)
      var body: DamageSearch.BodyPlace?
      while !firsts.isEmpty {
        let found = try await soundBodies(of: firsts, after: body, leftOut)
        guard let end = found.last else { break }
        header.otherBodyBytes += found.reduce(0) { $0 + Int64($1.body.bytes.count) }
        body = DamageSearch.BodyPlace(
          first: end.first, generation: Int64(end.revision.generation),
          digest: Array(end.revision.digest.text.utf8))
      }
      last = search.last
    }
    header.lastSequence = max(header.lastSequence, header.newest)
    var id: [UInt8] = []
    while let end = try await soundLocals(after: id, leftOut).last { id = Array(end.id.text.utf8) }
    // Rows that are missing leave no other trace.
    if let stored, leftOut.reasons.isEmpty, !header.countsEqual(stored) {
      leftOut.note(.damaged("rows are missing: the counts of the store differ from its rows"))
    }
    leftOut.note(header)
    return leftOut.reasons
  }

  func soundDocuments(
    after sequence: Int64, _ leftOut: LeftOutRows
  ) async throws -> [CopiedDocument] {
    var start = sequence
    while true {
      let search = try await reading { [start] source in
        try DamageSearch(after: start, in: source)
      }
      leftOut.note(search)
      guard search.documents.isEmpty, let last = search.last else { return search.documents }
      start = last
    }
  }

  func soundBodies(
    of firsts: [Int64], after last: DamageSearch.BodyPlace?, _ leftOut: LeftOutRows
  ) async throws -> [CopiedBody] {
    var start = last
    while true {
      let rows = try await reading { [start] source in
        try source.rows(Self.bodies(of: firsts, in: number, after: start)).all
      }
      let places = rows.map { row in
        DamageSearch.BodyPlace(
          first: row.integer(0), generation: row.integer(1), digest: row.bytes(2))
      }
      let sound = try zip(rows, places).filter { !leftOut.contains($1) }.map {
        try Self.body($0.0)
      }
      guard sound.isEmpty, let end = places.last else { return sound }
      start = end
    }
  }

  func soundLocals(after id: [UInt8], _ leftOut: LeftOutRows) async throws -> [CopiedLocal] {
    var start = id
    while true {
      let rows = try await reading { [start] source in
        try source.rows(Self.locals(of: number, after: start)).all
      }
      let sound = rows.compactMap { row in
        let local = try? Self.local(row, in: number)
        if local == nil { leftOut.noteLocal(row.bytes(4)) }
        return local
      }
      guard sound.isEmpty, let end = rows.last?.bytes(4) else { return sound }
      start = end
    }
  }

  /// What an error about damage says, for people.
  static func message(of error: ServiceError) -> String {
    error.detail.isEmpty ? error.reason : error.detail
  }
}
