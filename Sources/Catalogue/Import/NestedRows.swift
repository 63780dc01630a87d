/// The rows in a row: a page of an answer with a list of hotels, or a list.
struct NestedRows {
  private let text: [UInt8]
  private let isMap: Bool

  /// Finds the hotels in a row that is none itself; nil if there are none.
  init?(_ row: [UInt8]) {
    let start = row.lazy.filter { !RowSplitter.isSpace($0) }.prefix(2)
    if start.elementsEqual("[{".utf8) {
      (text, isMap) = (row, false)
      return
    }
    guard start.first == UInt8(ascii: "{") else { return nil }
    var outline = ObjectOutline(line: 1)
    guard (try? outline.take(row)) != nil, let found = try? outline.rows(), found.hasNames else {
      return nil
    }
    (text, isMap) = (Array(row[found.range]), found.isMap)
  }

  /// The rows, with the number and the line of the row around them.
  func rows(of row: SplitRow) -> [SplitRow] {
    var (splitter, position) = (RowSplitter(isMap: isMap), 0)
    var rows: [SplitRow] = []
    while let inner = try? splitter.next(in: text, from: &position) {
      let content: SplitRow.Content =
        if case .text(let text) = inner.content { .inner(text) } else { inner.content }
      rows.append(SplitRow(ordinal: row.ordinal, line: row.line, content: content))
    }
    return rows
  }
}
