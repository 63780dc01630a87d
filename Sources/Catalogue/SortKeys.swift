import Documents
import Hotels
import SQLite

/// What of a hotel the orders by price and by distance go by.
struct SortKeys {
  /// The first number in its price; nil where there is none.
  let price: Double?
  /// Where it is.
  let place: GeoPoint?

  /// Reads a hotel's object. The price is a number or a text such as `£1,250.50 a night`.
  init(_ hotel: JSONNode) {
    price = hotel["price"]?.double ?? hotel["price"]?.string.flatMap(Self.firstNumber)
    place = GeoPoint(ofHotel: hotel)
  }

  /// Writes them for the hotel with this number in the catalogue's order.
  func write(as seq: Int64, named name: String, in connection: Connection) throws(SQLiteError) {
    let vector = place?.vector
    func value(_ number: Double?) -> Binding { number.map { .real($0) } ?? .null }
    try connection.statement(
      """
      INSERT OR REPLACE INTO sorting (seq, name, price, x, y, z)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      """
    ).run(
      .integer(seq), .text(name), value(price), value(vector?.x), value(vector?.y),
      value(vector?.z))
  }

  /// The first number of a text: digits, commas between thousands left out, and decimals behind a point.
  static func firstNumber(_ text: String) -> Double? {
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    let rest = text.utf8.drop { !isDigit($0) }
    let whole = rest.prefix { isDigit($0) || $0 == UInt8(ascii: ",") }
    var digits = whole.filter(isDigit)
    let behind = rest.dropFirst(whole.count)
    let decimals = behind.dropFirst().prefix(while: isDigit)
    if behind.first == UInt8(ascii: "."), !decimals.isEmpty {
      digits.append(UInt8(ascii: "."))
      digits += decimals
    }
    return Double(String(decoding: digits, as: UTF8.self))
  }
}
