import Documents
import Hotels
import SQLite
import Text

/// The values of a hotel by which searches are ordered by name, price and distance.
struct SortKeys {
  /// The name's place in the order of names; see ``SortName``.
  let name: [UInt8]
  /// The first number in the hotel's price; nil when there is none. See ``Price``.
  let price: Double?
  /// The hotel's position.
  let location: GeoPoint?

  /// Reads a hotel's object. The price is a number or a text such as `£1,250.50 a night`.
  init(_ hotel: JSONNode) {
    name = SortName.key(hotel["name"]?.string ?? "")
    price = hotel["price"]?.double ?? hotel["price"]?.string.flatMap(Price.number(in:))
    location = GeoPoint(ofHotel: hotel)
  }

  /// Writes the values for the hotel with this number in the catalogue's order.
  func write(as seq: Int64, in connection: Connection) throws {
    let vector = location?.vector
    func value(_ number: Double?) -> Binding { number.map { .real($0) } ?? .null }
    try connection.statement(
      """
      INSERT OR REPLACE INTO sorting (seq, name, price, x, y, z)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """
    ).run(
      .integer(seq), .bytes(name), value(price), value(vector?.x), value(vector?.y),
      value(vector?.z))
  }
}

/// The order of names: that of Unicode's root collation, in which Écluse comes before Zoo. Case, marks, punctuation and a
/// leading article are ignored, as in the index of a book.
enum SortName {
  private static let collator = TextCollator()
  static let articles = SearchStopWords.words(
    "the a an le la les l der die das el los las il lo gli het")

  /// Bytes that compare as the names do.
  static func key(_ name: String) -> [UInt8] {
    var words = FoldedText(name).terms.flatMap(\.parts).map(\.text)
    if words.count > 1, articles.contains(words[0]) { words.removeFirst() }
    let text = words.joined(separator: " ")
    return collator?.sortKey(of: text) ?? Array(text.utf8)
  }
}
