package import Documents
package import Stores

/// An engine whose stores can be copied, row by row, to another engine and from it.
///
/// Entries of indexes are not copied. In the copy no index exists, and a query builds the one that it needs.
package protocol CopyingEngine: StorageEngine {
  /// Opens a store to read its rows; nil when the store is absent. This process may not use the store otherwise
  /// meanwhile.
  /// - Parameter whileUsed: whether other processes may write to the store meanwhile. All pages are then of one state.
  ///   Otherwise ``RowWalk`` refuses a store that was changed.
  /// - Throws: the errors of ``StorageEngine/open(_:creating:)``.
  func rowReader(of name: StoreName, whileUsed: Bool) async throws -> (any RowReader)?

  /// Opens a damaged store to read what is sound of it, while other processes may write to it: damaged documents, bodies
  /// of ancestors and local documents are left out, and the counts are of the rest.
  /// - Returns: the reader, and a line for each damage; nil when the store is absent, or the engine can't do that.
  func soundRowReader(of name: StoreName) async throws -> (reader: any RowReader, damage: [String])?

  /// Begins a copy of a store. No one can open the copy before ``RowWriter/publish()``.
  /// - Parameter name: the name that the copy will have. What an interrupted copy left for this name is removed.
  /// - Parameter epoch: the epoch of the original, which the copy keeps.
  func rowWriter(of name: StoreName, epoch: String) async throws -> any RowWriter

  /// Removes what interrupted copies left. No copy may be running.
  func removeUnfinishedCopies() async throws

  /// Visits the log of erased stores in pages; see ``noteErasures(of:)``. A store may be visited twice.
  func visitErasures(_ take: ([StoreName]) async throws -> Void) async throws
  /// Adds stores to the log of stores that were erased for good (`StorageEngine.noteErasure(of:)`). They were erased
  /// in the place from which stores are copied, and need not exist here.
  func noteErasures(of names: [StoreName]) async throws

  /// The mark that keeps servers from these stores; nil when there is none.
  func moveMark() async throws -> MoveMark?
  /// Sets the mark durably, or removes it.
  func setMoveMark(_ mark: MoveMark?) async throws
}

extension CopyingEngine {
  package func soundRowReader(
    of name: StoreName
  ) async throws -> (reader: any RowReader, damage: [String])? { nil }

  /// Opens a store that no one else uses.
  package func rowReader(of name: StoreName) async throws -> (any RowReader)? {
    try await rowReader(of: name, whileUsed: false)
  }
}

/// Reads the rows of one store in pages. Every row's own checksum is verified; ``RowWalk`` verifies the rest.
///
/// An empty page means that no further row exists.
package protocol RowReader: Sendable {
  /// The store's counts at present.
  func state() async throws -> CopiedState
  /// Documents whose last change comes after a sequence number, in that order.
  func documents(after sequence: Int64) async throws -> [CopiedDocument]
  /// Bodies of some documents, without those of winners, in the order of ``BodyKey``.
  /// - Parameter firsts: the documents, each by the sequence number of its first change.
  /// - Parameter last: the page starts after this body; nil starts it at the first.
  func bodies(of firsts: [Int64], after last: BodyKey?) async throws -> [CopiedBody]
  /// Local documents, expired ones included, in byte order of their ids.
  /// - Parameter last: the page starts after this id; nil starts it at the first.
  func locals(after last: LocalID?) async throws -> [CopiedLocal]
  func close() async
}

/// Writes a copy of one store.
package protocol RowWriter: Sendable {
  func write(_ page: RowPage) async throws
  /// Writes the store's counts, after the last page.
  /// - Returns: a reader of the copy, to compare it with the original.
  func complete(_ header: StoreHeader) async throws -> any RowReader
  /// Makes the copy durable and gives it its name. A store that had the name is erased first.
  func publish() async throws
  /// Removes the copy.
  func abandon() async
}

/// What a reader knows of a store at one moment.
package struct CopiedState: Sendable, Equatable {
  /// The store's name, epoch and counts.
  package var header: StoreHeader
  /// A number that changes with every write, if the engine has one. Some writes change no count.
  package var mark: Int64

  package init(header: StoreHeader, mark: Int64 = 0) {
    self.header = header
    self.mark = mark
  }
}

/// The position of a body in the order in which bodies are read: by document, then by generation, then by digest.
package struct BodyKey: Sendable {
  /// The sequence number of the document's first change.
  package let first: Int64
  package let revision: RevisionID

  package init(_ body: CopiedBody) {
    first = body.first
    revision = body.revision
  }
}
