import Photos

/// Photos: what is taken has nothing left to remove, however it arrives.
enum PhotoFuzzing {
  static func check(_ bytes: [UInt8]) {
    let whole = clean(bytes, inPiecesOf: max(1, bytes.count))
    claim(clean(bytes, inPiecesOf: 7) == whole, "pieces do not matter")
    guard let whole else { return }
    claim(whole.count <= bytes.count + 64, "nothing but an orientation is added")
    claim(clean(whole, inPiecesOf: whole.count) == whole, "a clean photo stays as it is")
  }

  /// The photo without what is removed; nil for bytes that are not taken.
  private static func clean(_ bytes: [UInt8], inPiecesOf count: Int) -> [UInt8]? {
    var (cleaner, cleaned) = (PhotoCleaner(), [UInt8]())
    for start in stride(from: 0, to: bytes.count, by: count) {
      guard let part = attempt({ try cleaner.clean(Array(bytes[start...].prefix(count))) }) else {
        return nil
      }
      cleaned += part
    }
    return attempt { _ = try cleaner.finish() }.map { cleaned }
  }
}
