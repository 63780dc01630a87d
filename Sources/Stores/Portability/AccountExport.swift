private import Crypto
package import Documents

/// An export that is read piece by piece: a line about the account, a section for each store, the manifest.
///
/// ```swift
/// var export = AccountExport(of: account, made: now, from: stores, sections, notes)
/// while let piece = try await export.next() { … }
/// ```
/// It holds in memory one piece and one document's history. Between two pieces it holds no lease.
package struct AccountExport: Sendable {
  package typealias Section = (name: String, store: StoreName)

  private let account: ExportedAccount
  private let made: Timestamp
  private let stores: DatabaseManager
  private let notes: PortableNotes
  /// The sections that are not started; the next one is last.
  private var rest: [Section]
  private var current: (export: StoreExport, store: StoreName)?
  /// The sections that are left out, because their stores are damaged.
  private var unreadable: [String] = []
  private var sum = ExportSum()
  private var counts = ExportCounts()
  private var hasBegun = false
  private var isComplete = false

  /// Creates an export of which nothing is read.
  /// - Parameter sections: the stores, in order.
  /// - Parameter notes: which of the service's own notes are exported with documents.
  package init(
    of account: ExportedAccount, made: Timestamp, from stores: DatabaseManager,
    _ sections: [Section], _ notes: PortableNotes
  ) {
    self.account = account
    self.made = made
    self.stores = stores
    self.notes = notes
    rest = sections.reversed()
  }

  /// The next piece; nil after the last. The first piece begins with the account's line. A list whose store can't be opened
  /// because it is damaged is left out, and the manifest says so.
  /// - Throws: the stores' errors; `unavailable` when a store has changed so that the export must start
  ///   again.
  package mutating func next() async throws -> [UInt8]? {
    guard !isComplete else { return nil }
    var bytes = hasBegun ? [] : header
    hasBegun = true
    let section = current == nil ? rest.popLast() : nil
    if let section { current = (StoreExport(section: section.name, notes: notes), section.store) }
    if let (export, store) = current {
      do {
        let (next, piece) = try await Self.piece(of: export, in: store, stores)
        bytes += piece
        current = next.isComplete ? nil : (next, store)
        if next.isComplete { counts += next.counts }
      } catch let error as ServiceError {
        guard let section, section.name != ExportFormat.own, error.code.isOfDamage else {
          throw error
        }
        current = nil
        unreadable.append(section.name)
      }
    }
    sum.add(bytes)
    if current == nil, rest.isEmpty {
      isComplete = true
      bytes += sum.manifest(counts, without: unreadable)
    }
    return bytes
  }

  private static func piece(
    of export: StoreExport, in name: StoreName, _ stores: DatabaseManager
  ) async throws -> (StoreExport, [UInt8]) {
    try await stores.withStore(name, creating: false) { store in
      try await (store ?? stores.absent(name)).read(inSlices: export) {
        export, view -> (StoreExport, [UInt8])? in
        guard try export.read(view) else { return nil }
        let piece = export.takePiece()
        return (export, piece)
      }
    }
  }

  private var header: [UInt8] {
    JSONWriter.line { writer in
      writer.member("export", ExportFormat.name)
      writer.member("version", ExportFormat.version)
      writer.member("made", made.rfc3339)
      writer.object("account") { writer in
        writer.member("id", account.id.text)
        writer.member("kind", account.kind)
        if let username = account.username { writer.member("username", username) }
        if let name = account.displayName { writer.member("displayName", name) }
        if let created = account.created { writer.member("created", created) }
      }
    }
  }
}

/// The sums of all lines before the manifest.
struct ExportSum: Sendable {
  private(set) var lines = 0
  private(set) var bytes = 0
  private var hash = SHA256()

  /// Adds complete lines.
  mutating func add(_ lines: [UInt8]) {
    hash.update(data: lines)
    bytes += lines.count
    self.lines += lines.count { $0 == UInt8(ascii: "\n") }
  }

  /// SHA-256 in lower-case hex.
  var digest: String { Hex.string(Array(hash.finalize())) }

  /// - Parameter unreadable: the sections that are left out.
  func manifest(_ counts: ExportCounts, without unreadable: [String] = []) -> [UInt8] {
    JSONWriter.line { writer in
      writer.object("manifest") { writer in
        counts.write(to: &writer)
        if !unreadable.isEmpty { writer.array("unreadable", of: unreadable) { $1.string($0) } }
        writer.member("lines", lines)
        writer.member("bytes", bytes)
        writer.member("sha256", digest)
      }
    }
  }
}
