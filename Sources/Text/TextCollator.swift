import CICU

/// The root collation of Unicode (CLDR), by ICU: the order of strings in CouchDB's views and queries.
///
/// Source: <https://unicode-org.github.io/icu/userguide/collation/>; CouchDB, "Views collation".
///
/// `@unchecked Sendable`: the collator is opened once and its attributes are never set. Every later call takes it as
/// `const UCollator *`, and ICU allows several threads to make such calls on one object at the same time (ICU User
/// Guide, "ICU Architectural Design: Thread-safe const APIs"). Only `deinit` changes it.
package final class TextCollator: @unchecked Sendable {
  private let collator: OpaquePointer

  /// The collator's and the library's version; it changes whenever sort keys may change.
  package let version: String

  /// Opens the root collation; nil when ICU's data is missing.
  package init?() {
    var status: Int32 = 0
    guard let collator = cicu_collator_open(&status), status <= 0 else { return nil }
    self.collator = collator
    var (data, library) = ([UInt8](repeating: 0, count: 4), [UInt8](repeating: 0, count: 4))
    cicu_collator_version(collator, &data)
    cicu_library_version(&library)
    version = Self.text(data) + "-" + Self.text(library)
  }

  deinit { cicu_collator_close(collator) }

  /// Below 0 when `left` comes first, above 0 when `right` comes first, and 0 when the collation regards them as equal.
  /// Texts of different bytes can be equal: a composed and a decomposed "é", or a text with and without a control
  /// character.
  package func compare(_ left: String, _ right: String) -> Int {
    var (left, right) = (left, right)
    return left.withUTF8 { left in
      right.withUTF8 { right in compare(left, right) }
    }
  }

  private func compare(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Int {
    left.withMemoryRebound(to: CChar.self) { left in
      right.withMemoryRebound(to: CChar.self) { right in
        var status: Int32 = 0
        return Int(
          cicu_collator_compare(
            collator, left.baseAddress, Int32(clamping: left.count), right.baseAddress,
            Int32(clamping: right.count), &status))
      }
    }
  }

  /// The sort key: bytes whose order is the order of the collation. It contains no zero and ends with one. Texts that
  /// ``compare(_:_:)`` regards as equal have the same key.
  package func sortKey(of text: String) -> [UInt8] {
    let units = Array(text.utf16)
    var capacity = units.count * 2 + 16
    while true {
      var count = 0
      let key = [UInt8](unsafeUninitializedCapacity: capacity) { bytes, initialized in
        count = Int(
          cicu_collator_sort_key(
            collator, units, Int32(clamping: units.count), bytes.baseAddress,
            Int32(clamping: capacity)))
        initialized = count <= capacity ? count : 0
      }
      guard count > capacity else { return key }
      capacity = count
    }
  }

  private static func text(_ version: [UInt8]) -> String {
    version.map { String($0) }.joined(separator: ".")
  }
}
