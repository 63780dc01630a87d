/// The rows of a file of any form, chunk by chunk: JSON objects one after another, an array, an object that has the hotels
/// somewhere inside, a table, or a calendar.
///
/// Rows of the first two and of tables are found as the bytes arrive. An object can only be searched when it is complete:
/// until then it is in memory, and from ``RowSplitter/maximumRowBytes`` on in a file beside the draft.
struct ImportSource {
  private enum Form {
    /// The first bytes don't say it yet.
    case unknown
    case rows
    case table
    case calendar
    /// An object that may be the only one.
    case object
  }

  private var form = Form.unknown
  /// Bytes that were not looked at yet.
  private var chunk: [UInt8] = []
  private var position = 0
  private var splitter = RowSplitter()
  /// Finds the rows if they are in several lists.
  private var groups: GroupSplitter?
  private var table = TableReader(line: 1)
  private var tableText = TableText()
  private var calendar = CalendarReader(line: 1)
  /// Follows the first object, to see whether another one comes after it.
  private var probe = RowSplitter()
  private var isFirstObjectEnded = false
  /// Whether there is more than one object.
  private var isSequence = false
  private var isStartChecked = false
  /// Whether the file is one object that may be a hotel, without a list.
  private(set) var isOneObject = false
  /// The plane of the file's positions if it says that they are in metres.
  private(set) var reference: MapReference?
  /// What the object around the rows says about their place.
  private var place = GroupedLists.Place()
  /// The most bytes of a reference system that are looked at.
  private static let longestReference = 1 << 12
  private let spool: ImportSpool
  /// The part of the spooled file that has the rows and was not read yet.
  private var rest: Range<Int>?
  private var line = 1

  /// - Parameter path: where a large object is kept until it is complete.
  init(spool path: String) { spool = ImportSpool(path: path) }

  /// Adds the next bytes. All rows of the earlier ones must have been taken.
  /// - Throws: `malformed` for a text of no known form; `storageFull`, `unavailable`.
  mutating func append(_ bytes: [UInt8]) throws(CatalogueError) {
    switch form {
    case .rows, .calendar: (chunk, position) = (bytes, 0)
    case .table: (chunk, position) = (tableText.take(bytes), 0)
    case .unknown:
      chunk += bytes
      try decide(isEnd: false)
    case .object: try appendToObject(bytes)
    }
  }

  /// Ends the text. Rows may follow.
  mutating func end() throws(CatalogueError) {
    if form == .unknown { try decide(isEnd: true) }
    if form == .table { (chunk, position) = (Array(chunk[position...]) + tableText.end(), 0) }
    guard form == .object else { return }
    try searchObject()
  }

  /// The next row; nil if more bytes are needed.
  /// - Throws: `malformed`, `unavailable`.
  mutating func next() throws(CatalogueError) -> SplitRow? {
    while true {
      switch form {
      case .unknown, .object: return nil
      case .table: return try table.next(in: chunk, from: &position)
      case .calendar: return calendar.next(in: chunk, from: &position)
      case .rows:
        if let row = try nextRow() { return row }
        guard let rest, !rest.isEmpty else { return nil }
        (chunk, position) = (try spool.read(rest, atMost: FilePieces.pieceBytes), 0)
        self.rest = rest.lowerBound + chunk.count..<rest.upperBound
      }
    }
  }

  private mutating func nextRow() throws(CatalogueError) -> SplitRow? {
    guard groups != nil else {
      var row = try splitter.next(in: chunk, from: &position)
      row?.place = place
      return row
    }
    return try groups?.next(in: chunk, from: &position)
  }

  /// Ends the rows.
  /// - Returns: the last row of a table without a line end.
  /// - Throws: `truncated`.
  mutating func finish() throws(CatalogueError) -> SplitRow? {
    switch form {
    case .table: return try table.finish()
    case .calendar: return try calendar.finish()
    case .rows: try splitter.finish()
    case .unknown, .object: break
    }
    return nil
  }

  // MARK: Finding the form

  private mutating func decide(isEnd: Bool) throws(CatalogueError) {
    guard isEnd || chunk.count >= FileStart.longestMark else { return }
    if !isStartChecked {
      chunk.removeFirst(try FileStart.markLength(of: chunk))
      isStartChecked = true
    }
    let start = chunk.firstIndex { !RowSplitter.isSpace($0) }
    // Lines without content are dropped. A table's first value may start with a tab.
    let first = chunk[..<(start ?? chunk.endIndex)].lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
    line += chunk[..<first].count { $0 == 0x0A }
    chunk.removeFirst(first)
    guard chunk.count <= RowSplitter.maximumRowBytes || start != nil else {
      throw TableReader.notATable(line: line)
    }
    guard let start else { return }
    switch chunk[start - first] {
    case UInt8(ascii: "["):
      let text = chunk[(start - first)...]
      let firstLine = text.prefix { $0 != 0x0A }
      // A list with names, or a word in brackets, shows only at the end of its line.
      let limit = FileStart.longestFirstLine(startingWith: firstLine)
      guard isEnd || firstLine.count < text.count || firstLine.count > limit else { return }
      if let error = FileStart.section(firstLine, line: line) { throw error }
      let isLists = limit > 0 && ListRows.areColumns(Array(firstLine))
      splitter = RowSplitter(isLists: isLists, line: line)
      form = .rows
    case UInt8(ascii: "{"):
      form = .object
      splitter = RowSplitter(line: line)
      let bytes = chunk
      chunk = []
      try appendToObject(bytes)
    case UInt8(ascii: "<"):
      let text = chunk[(start - first)...]
      guard isEnd || text.count >= FileStart.longestSection else { return }
      throw FileStart.xml(text, line: line)
    default:
      let first = chunk[(start - first)...].prefix(CalendarReader.start.count)
      let isCalendar = CalendarReader.start.starts(with: first)
      guard isEnd || !isCalendar || first.count == CalendarReader.start.count else { return }
      (table, calendar) = (TableReader(line: line), CalendarReader(line: line))
      form = isCalendar ? .calendar : .table
      if !isCalendar { chunk = tableText.take(chunk) }
    }
  }

  private mutating func appendToObject(_ bytes: [UInt8]) throws(CatalogueError) {
    if !isSequence { isSequence = try !continuesObject(bytes) }
    guard !spool.isOpen else { return try spool.write(bytes) }
    chunk += bytes
    if isSequence {
      form = .rows
    } else if chunk.count > RowSplitter.maximumRowBytes {
      try spool.write(chunk)
      chunk = []
    }
  }

  /// Whether nothing but the first object has been seen, up to the end of these bytes.
  private mutating func continuesObject(_ bytes: [UInt8]) throws(CatalogueError) -> Bool {
    var offset = 0
    if !isFirstObjectEnded {
      guard let row = try probe.next(in: bytes, from: &offset) else { return true }
      isFirstObjectEnded = true
      if case .broken = row.content { return false }
    }
    return !bytes[offset...].contains { !RowSplitter.isSpace($0) }
  }

  /// Finds the rows in the only object, or takes it as the only row.
  private mutating func searchObject() throws(CatalogueError) {
    form = .rows
    if !isSequence, let rows = try linkedRows() {
      (chunk, position, splitter) = (rows, 0, RowSplitter(line: line))
      return
    }
    let all = 0..<(spool.isOpen ? spool.count : chunk.count)
    if spool.isOpen { rest = all }
    guard !isSequence else { return }
    var (outline, offset) = (ObjectOutline(line: line), 0)
    while offset < all.upperBound {
      let bytes = try bytes(offset..<all.upperBound)
      try outline.take(bytes)
      offset += bytes.count
    }
    if let reference = outline.reference { noteReference(try bytes(reference)) }
    let outlined = try outline.rows()
    isOneObject = outlined?.isOne ?? true
    guard let rows = outlined else { return }
    if !rows.path.isEmpty { place = outline.texts.place }
    guard rows.groups == nil else {
      groups = rows.groups.map { GroupSplitter($0, line: line) }
      return
    }
    var (start, range) = ([UInt8](), rows.range)
    if let header = rows.header, header.count < FilePieces.pieceBytes,
      let names = Self.start(after: try bytes(header))
    {
      (start, range) = (names, rows.range.lowerBound + 1..<rows.range.upperBound)
    }
    chunk = spool.isOpen ? start : start + chunk[range]
    if spool.isOpen { rest = range }
    splitter = RowSplitter(isMap: rows.isMap, line: rows.line)
  }

  /// The first bytes of a part of the object.
  private func bytes(_ range: Range<Int>) throws(CatalogueError) -> [UInt8] {
    spool.isOpen ? try spool.read(range, atMost: FilePieces.pieceBytes) : Array(chunk[range])
  }

  /// The hotels of a file with objects that name each other; nil for another one.
  private func linkedRows() throws(CatalogueError) -> [UInt8]? {
    guard spool.isOpen else { return LinkedObjects.rows(in: chunk) }
    guard spool.count <= LinkedObjects.longest else { return nil }
    var all: [UInt8] = []
    while all.count < spool.count { all += try bytes(all.count..<spool.count) }
    return LinkedObjects.rows(in: all)
  }

  private mutating func noteReference(_ bytes: [UInt8]) {
    let text = String(decoding: bytes.prefix(Self.longestReference), as: UTF8.self)
    reference = MapReference(namedIn: text)
  }

  /// The start of a list whose first row is the list with the names of the columns; nil if it names none for the hotel's
  /// name.
  private static func start(after header: [UInt8]) -> [UInt8]? {
    guard ListRows.areColumns(header) else { return nil }
    return [UInt8(ascii: "[")] + header + [UInt8(ascii: ",")]
  }
}
