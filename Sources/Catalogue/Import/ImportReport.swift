/// What an import has found in a file, in numbers that stay small however large the file is.
package struct ImportReport: Sendable, Equatable {
  /// The most different columns that are counted by name.
  static let maximumColumns = 500
  /// The most kinds of faults and of other rows that are counted by name.
  static let maximumKinds = 50
  /// How many hotels a dry run shows.
  package static let shownHotels = 5

  /// A kind of fault.
  struct Fault: Sendable, Equatable {
    let kind: String
    /// The first row with it.
    let first: BadRow
    var rows = 1
  }

  /// What became of the members of the rows, in the order in which they were seen, and in how many rows.
  private(set) var columns: [(column: HotelForm.Column, rows: Int)] = []
  private(set) var faults: [Fault] = []
  /// What the rows are about that are no hotels, and how many there are.
  private(set) var others: [(kind: String, rows: Int)] = []
  /// The first hotels, as JSON.
  private(set) var hotels: [String] = []
  /// The first row that is not UTF-8, and how many there are.
  private(set) var notUTF8: (first: BadRow, rows: Int)?

  /// How many rows say where they are, or that they are hotels.
  private(set) var likelyHotels = 0
  /// How many rows without a place but a country replaced an earlier one of the same id, which then is made of the name
  /// alone.
  private(set) var repeatedNames = 0
  /// Whether the rows may be no hotels.
  private var things = OtherThings()
  /// Why the rows may be no hotels; nil if they may be some.
  var doubt: String? { things.reason(columns) }

  private var indexes: [HotelForm.Column: Int] = [:]

  mutating func add(_ columns: [HotelForm.Column], of hotel: HotelText, isReplaced: Bool) {
    things.add(hotel, columns)
    let hasPlace = columns.contains(where: \.isPlace)
    if hasPlace || columns.contains(where: \.isKind) { likelyHotels += 1 }
    if isReplaced, !columns.contains(where: \.isPlaceInCountry) { repeatedNames += 1 }
    for column in columns {
      if let index = indexes[column] {
        self.columns[index].rows += 1
      } else if self.columns.count < Self.maximumColumns {
        indexes[column] = self.columns.count
        self.columns.append((column, 1))
      }
    }
  }

  mutating func add(hotel: [UInt8]) {
    guard hotels.count < Self.shownHotels else { return }
    hotels.append(String(decoding: hotel, as: UTF8.self))
  }

  mutating func add(_ fault: RowFault, _ row: BadRow) {
    if fault.isEncoding { notUTF8 = notUTF8.map { ($0.first, $0.rows + 1) } ?? (row, 1) }
    if let index = faults.firstIndex(where: { $0.kind == fault.kind }) {
      faults[index].rows += 1
    } else if faults.count < Self.maximumKinds {
      faults.append(Fault(kind: fault.kind, first: row))
    }
  }

  mutating func add(other kind: String) {
    if let index = others.firstIndex(where: { $0.kind == kind }) {
      others[index].rows += 1
    } else if others.count < Self.maximumKinds {
      others.append((kind, 1))
    }
  }

  package static func == (one: ImportReport, other: ImportReport) -> Bool {
    one.lines == other.lines && one.leftOutValues == other.leftOutValues
  }
}

extension ImportReport {
  /// The members that are not in the catalogue, with the number of rows that had them; empty if there are none.
  package var leftOutValues: String {
    columns.filter { $0.column.kept == nil }
      .map { "\($0.column.name) (\($0.rows))" }.joined(separator: ", ")
  }

  /// What the rows are about that are no hotels; empty if there are none.
  package var otherRows: String { others.map { "\($0.kind) (\($0.rows))" }.joined(separator: ", ") }

  /// What a dry run shows: the first hotels, what each column became, and each kind of fault once.
  package var lines: [String] {
    func counted(_ rows: Int) -> String { "\(rows) \(rows == 1 ? "row" : "rows")" }
    return hotels.enumerated().map { "hotel \($0.offset + 1): \($0.element)" }
      + columns.map { column, rows in
        let fate = column.kept.map { $0 == column.name ? "is kept" : "became \($0)" }
        return "column \(column.name) \(fate ?? "is left out") in \(counted(rows))"
      }
      + others.map { "left out: \($0.kind) in \(counted($0.rows))" }
      + faults.map {
        "fault: \($0.first.reason) First in row \($0.first.ordinal), line \($0.first.line); "
          + "\(counted($0.rows))."
      }
  }
}
