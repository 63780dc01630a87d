import Documents
package import Stores

/// What names a store in the tokens that clients keep: the first digits of a hash of its name, so that a
/// token tells nothing. A store that is erased and made again, or restored, keeps its tag.
package struct StoreTag: Sendable, Equatable {
  /// Digits of a tag. Two stores of one client share a tag once in four thousand million.
  package static let count = 8

  /// The digits.
  package let digits: String

  /// The tag of a store, whether it has been made or not.
  package init(_ name: StoreName) {
    digits = Hex.digest(of: name.key, digits: Self.count)
  }
}
