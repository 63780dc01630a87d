import Documents

@testable import CouchQuery
@testable import CouchSync
@testable import Hotels
@testable import Stores

/// Tokens and names that clients send back: each is accepted only in the spelling in which the server gave it.
enum TokenFuzzing {
  static func check(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    checkSince(text)
    if let token = MirrorToken(text) { same(token.description, text, "a mirror's token") }
    if let cursor = BookmarkCursor(text) { same(cursor.description, text, "a cursor") }
    checkFindBookmark(text)
    checkNames(text)
  }

  private static func checkSince(_ text: String) {
    guard let token = attempt({ try SinceToken(text) }) else { return }
    // Positions that no database here gave have any text.
    if token == .unknown { return }
    let quoted = text.utf8.first == 0x22
    same(quoted ? "\"\(token.text)\"" : token.text, text, "a since token")
    if case .after(let sequence, let tag, let epoch) = token {
      claim(sequence >= 0, "a sequence from 0")
      claim(tag.utf8.count == StoreTag.count, "a whole tag")
      claim(epoch.utf8.count == SinceToken.epochDigits, "a whole epoch")
    }
  }

  private static func checkFindBookmark(_ text: String) {
    guard let bookmark = attempt({ try QueryCursor(text) }) ?? nil else { return }
    same(bookmark.text, text, "a find bookmark")
    claim(bookmark.position.key.count <= QueryLimits.keyBytes, "a key of a bounded length")
  }

  private static func checkNames(_ text: String) {
    if let id = attempt({ try DocumentID(text) }) {
      same(id.text, text, "a document's id")
      claim((1...DocumentID.maximumBytes).contains(text.utf8.count), "of a bounded length")
    }
    if let id = attempt({ try LocalID(client: text) }) {
      claim(!id.text.isEmpty && !id.text.utf8.contains(0), "a local id")
    }
    if let name = StoreName(key: text) { same(name.key, text, "a store's key") }
    if let name = DatabaseName(text) {
      same(name.text, text, "a database's name")
      claim(text.utf8.allSatisfy { $0 != 0x2E && $0 < 0x7F }, "no dots and no bytes beyond ASCII")
    }
    if let path = attempt({ try FieldPath(text) }) {
      claim(!path.names.isEmpty, "a path has a name")
      let again = attempt { try FieldPath(path.text) }
      claim(again == path, "a field's path reads as itself")
    }
    if let id = HotelID(text) { same(id.text, text, "a hotel's id") }
  }

  private static func same(_ written: String, _ text: String, _ what: String) {
    claim(written.utf8.elementsEqual(text.utf8), "\(what) has one spelling")
  }
}
