package import Documents

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
  /// Checks the rows of indexes, which are not copied.
  /// - Throws: `integrity`.
  func checkIndexes() async throws
  func close() async
}

extension RowReader {
  package func checkIndexes() async throws {}
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
