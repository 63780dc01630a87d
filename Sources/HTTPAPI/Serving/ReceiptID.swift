import Crypto
import Documents
import Stores

/// The number of a receipt: when it was given, which answer it is about, and a digest that binds it to whom it was
/// given. So a receipt of which nothing is stored is known as one, also by a server that has started anew, and is
/// nothing to anybody else.
///
/// 60 hex digits: 12 of milliseconds since 1970, 32 of ``WriteReceipt/Name/token``, 16 of the digest; for a write to a
/// shared list its id's 32 before the digest.
struct ReceiptID: Sendable, Equatable {
  /// The digits.
  let text: String
  /// When it was given.
  let given: Timestamp
  /// Which answer it is about.
  let name: WriteReceipt.Name
  /// The shared list that the write goes to.
  let list: AccountID?

  /// A new receipt.
  init(of name: WriteReceipt.Name, list: AccountID?, at now: Timestamp) {
    let time = String(UInt64(clamping: now.milliseconds), radix: 16)
    let digits = String(repeating: "0", count: max(0, Self.timeDigits - time.utf8.count)) + time
    let said = digits + name.token + (list?.text ?? "")
    text = said + Self.digest(of: said, for: name.owner)
    given = now
    self.name = name
    self.list = list
  }

  /// Reads a receipt; nil for any other text, and for one that was given to somebody else.
  init?(_ text: String, of owner: AccountID) {
    let digits = Array(text.utf8)
    let said = String(decoding: digits.dropLast(Self.digestDigits), as: UTF8.self)
    guard digits.count == Self.length || digits.count == Self.length + Self.idDigits,
      Hex.bytes(digits) != nil, text.equalsBytes(of: said + Self.digest(of: said, for: owner)),
      let time = UInt64(said.prefix(Self.timeDigits), radix: 16)
    else { return nil }
    let rest = said.dropFirst(Self.timeDigits)
    self.text = text
    given = Timestamp(milliseconds: Int64(clamping: time))
    name = WriteReceipt.Name(owner: owner, token: String(rest.prefix(Self.idDigits)))
    list = AccountID(String(rest.dropFirst(Self.idDigits)))
  }

  private static let (timeDigits, idDigits, digestDigits) = (12, 32, 16)
  private static let length = timeDigits + idDigits + digestDigits

  private static func digest(of said: String, for owner: AccountID) -> String {
    let digest = SHA256.hash(data: Array("receipt \(said) \(owner.text)".utf8))
    return String(Hex.string(Array(digest)).prefix(digestDigits))
  }

  /// Where the answers to somebody's write may be kept.
  /// - Parameter own: their own store.
  /// - Parameter list: the shared list that it is about. The accounts' store has the answers to writes that make or
  ///   end one.
  static func stores(own: StoreName, list: AccountID?) -> [StoreName] {
    list.map { [.list($0), own, .system] } ?? [own, .system]
  }

  /// The shared list in a path: `/v1/lists/{id}`, and whatever is below.
  static func list(in path: String) -> AccountID? {
    let segments = path.utf8.split(separator: UInt8(ascii: "/"))
    guard segments.count > 2, segments[1].elementsEqual("lists".utf8) else { return nil }
    return AccountID(String(Substring(segments[2])))
  }
}
