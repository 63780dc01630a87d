import CICU

/// The traditional forms of texts in simplified Chinese, as people in Taiwan and Hong Kong write them, by ICU.
package enum TraditionalChinese {
  /// The texts in traditional characters, in the same order; none without ICU's data. No text has a line break.
  package static func texts(of simplified: [String]) -> [String] {
    let units = Array(simplified.joined(separator: "\n").utf16)
    // One character never becomes more than two units.
    let room = units.count * 2 + 1
    var length: Int32 = -1
    let result = [UInt16](unsafeUninitializedCapacity: room) { result, count in
      length = units.withUnsafeBufferPointer { units in
        guard let text = units.baseAddress, let start = result.baseAddress else { return -1 }
        return cicu_traditional(text, Int32(units.count), start, Int32(room))
      }
      count = max(0, Int(length))
    }
    let texts = String(decoding: result, as: UTF16.self)
      .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return length >= 0 && texts.count == simplified.count ? texts : []
  }
}
