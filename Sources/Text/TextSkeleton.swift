import CICU

/// Computes skeletons of texts: two texts that look alike have the same skeleton.
///
/// Source: Unicode Technical Standard 39, section 4, "Confusable Detection".
///
/// `@unchecked Sendable`: the checker is opened once and never changed, and ICU allows several threads to compute
/// skeletons with it at the same time (uspoof.h, "Thread Safety"). Only `deinit` changes it.
package final class TextSkeleton: @unchecked Sendable {
  private let checker: OpaquePointer

  /// Opens ICU's data; nil when it is missing.
  package init?() {
    var status: Int32 = 0
    guard let checker = cicu_checker_open(&status), status <= 0 else { return nil }
    self.checker = checker
  }

  deinit { cicu_checker_close(checker) }

  /// The skeleton of a text in UTF-8; nil when ICU fails.
  package func skeleton(of text: String) -> [UInt8]? {
    let bytes = Array(text.utf8)
    // One character becomes 1 to 18 others.
    var skeleton = [UInt8](repeating: 0, count: bytes.count * 24 + 16)
    let capacity = Int32(clamping: skeleton.count)
    var status: Int32 = 0
    let count = bytes.withUnsafeBytes { text in
      skeleton.withUnsafeMutableBytes { skeleton in
        cicu_checker_skeleton(
          checker, text.bindMemory(to: CChar.self).baseAddress, Int32(clamping: bytes.count),
          skeleton.bindMemory(to: CChar.self).baseAddress, capacity, &status)
      }
    }
    guard status <= 0, (0...capacity).contains(count) else { return nil }
    return Array(skeleton.prefix(Int(count)))
  }
}
