import CEmbedded
import Text

/// The lines of `CEmbedded/names.txt`, names of places and of what hotels have, by their kinds. The file says what each is.
///
/// Chinese names have simplified characters there; the traditional ones of Taiwan and Hong Kong are ICU's.
enum NameTable: String {
  case country, city, foreign, district, airport, sight, state, region, amenity

  /// The fields of each line, without the kind; at least one.
  var rows: [[String]] { Self.rows[self] ?? [] }

  /// A state, province or region of a country.
  struct State: Sendable {
    /// The country's code.
    let country: String
    /// That of ISO 3166-2.
    let code: String
    /// The English name comes first.
    let names: [String]
  }

  static let states = state.rows.compactMap { row in
    row.count > 2 ? State(country: row[0], code: row[1], names: Array(row[2...])) : nil
  }

  private static let rows: [NameTable: [[String]]] = {
    let bytes = UnsafeBufferPointer(start: cembedded_names_bytes(), count: cembedded_names_count())
    let lines = bytes.split(separator: UInt8(ascii: "\n")).map { line in
      line.split(separator: UInt8(ascii: "|")).map { String(decoding: $0, as: UTF8.self) }
    }
    let chinese = lines.map { fields in
      fields.filter { $0.unicodeScalars.allSatisfy { (0x4E00...0x9FFF).contains($0.value) } }
    }
    // All in one call, because the rules are read for each.
    var traditional = TraditionalChinese.texts(of: chinese.flatMap(\.self))[...]
    var rows: [NameTable: [[String]]] = [:]
    for (fields, chinese) in zip(lines, chinese) {
      let others = traditional.prefix(chinese.count)
      traditional = traditional.dropFirst(chinese.count)
      guard fields.count > 1, let kind = NameTable(rawValue: fields[0]) else { continue }
      rows[kind, default: []].append(fields.dropFirst() + others.filter { !chinese.contains($0) })
    }
    return rows
  }()
}
