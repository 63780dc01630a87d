/// Tells the connection how many bytes the body of the request that is being answered has unpacked, or may have
/// in a moment: they are accounted for until the answer's end. Fails with ``ConnectionProblem/overloaded`` where
/// there is no memory for so many.
struct BodyRoom: Sendable {
  /// Bytes up to here need not be told.
  static let freeBytes = 64 << 10

  /// The unpacked body's, all together.
  let bytes: Int
}
