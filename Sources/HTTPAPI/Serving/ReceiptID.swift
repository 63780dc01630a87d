import Crypto
import Documents
import Stores

/// The id of a receipt. It contains the time, the name of the answer, and a digest that binds it to its owner. So the
/// server recognises a receipt even if nothing is stored for it, also after a restart, and nobody else can use it.
///
/// 60 hex digits: 12 of milliseconds since 1970, 32 of ``WriteReceipt/Name/token``, 16 of the digest. For a write to a
/// shared list, the list's id (32 digits) is before the digest.
struct ReceiptID: Sendable, Equatable {
  /// The digits.
  let text: String
  /// When the receipt was issued.
  let issued: Timestamp
  /// The name of the answer.
  let name: WriteReceipt.Name
  /// The shared list that the write goes to.
  let list: AccountID?

  /// A new receipt.
  init(of name: WriteReceipt.Name, list: AccountID?, at now: Timestamp) {
    let time = String(UInt64(clamping: now.milliseconds), radix: 16)
    let digits = String(repeating: "0", count: max(0, Self.timeDigits - time.utf8.count)) + time
    let content = digits + name.token + (list?.text ?? "")
    text = content + Self.digest(of: content, for: name.owner)
    issued = now
    self.name = name
    self.list = list
  }

  /// Reads a receipt; nil for any other text, and for another person's receipt.
  init?(_ text: String, of owner: AccountID) {
    let digits = Array(text.utf8)
    let content = String(decoding: digits.dropLast(Self.digestDigits), as: UTF8.self)
    guard digits.count == Self.length || digits.count == Self.length + Self.idDigits,
      Hex.bytes(digits) != nil,
      text.equalsBytes(of: content + Self.digest(of: content, for: owner)),
      let time = UInt64(content.prefix(Self.timeDigits), radix: 16)
    else { return nil }
    let rest = content.dropFirst(Self.timeDigits)
    self.text = text
    issued = Timestamp(milliseconds: Int64(clamping: time))
    name = WriteReceipt.Name(owner: owner, token: String(rest.prefix(Self.idDigits)))
    list = AccountID(String(rest.dropFirst(Self.idDigits)))
  }

  private static let (timeDigits, idDigits, digestDigits) = (12, 32, 16)
  private static let length = timeDigits + idDigits + digestDigits

  private static func digest(of content: String, for owner: AccountID) -> String {
    let digest = SHA256.hash(data: Array("receipt \(content) \(owner.text)".utf8))
    return String(Hex.string(Array(digest)).prefix(digestDigits))
  }

  /// The stores that may keep the answer to a person's write.
  /// - Parameter own: the person's own store.
  /// - Parameter list: the shared list that the write is about. The accounts' store keeps the answers to writes that
  ///   create or delete a list.
  static func stores(own: StoreName, list: AccountID?) -> [StoreName] {
    list.map { [.list($0), own, .system] } ?? [own, .system]
  }
}
