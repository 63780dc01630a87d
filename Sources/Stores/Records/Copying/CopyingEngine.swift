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

  /// A line for each damage because of which a store is not among the names of stores, or an erasure not in the log.
  func registryDamage() async throws -> [String]

  /// Visits the log of erased stores in pages; see ``noteErasures(of:)``. A store may be visited twice. Damaged entries are
  /// left out.
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
