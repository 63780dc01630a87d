/// One row of the bytes to import, as ``RowSplitter`` finds it.
struct SplitRow: Sendable, Equatable {
  /// What was found.
  enum Content: Sendable, Equatable {
    /// The text between the row's ends. Whether it is JSON is not known yet.
    case text([UInt8])
    /// A row of more than ``RowSplitter/maximumRowBytes``.
    case tooLong
    /// No row, or one without an end; the sentence says which.
    case broken(String)
  }

  /// Its number, from 1.
  let ordinal: Int
  /// The line it starts on, from 1; lines end with LF.
  let line: Int
  /// What was found.
  let content: Content
}
