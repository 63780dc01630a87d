/// Finds the rows in a JSON array, or in objects one after another (a line each, pretty-printed or
/// merely concatenated), chunk by chunk, keeping no more than one row.
///
/// It knows strings, escapes and brackets only; the text of a row is for the parser to judge. Where
/// the chunks are cut changes nothing. Among objects a row without its end is given up where the next
/// line starts an object, so one broken line costs one row. In an array nothing tells where the next
/// row would start, so there a bracket that does not fit refuses the whole.
struct RowSplitter {
  /// The longest row, in bytes: 256 KiB, some hundred times the usual one.
  static let maximumRowBytes = 256 * 1024

  private enum Shape { case undecided, array, objects }

  private enum State {
    /// Before a row.
    case between
    /// Inside a row.
    case row
    /// Among objects: after a broken row, before the next line that starts with one.
    case lost
    /// After the array.
    case ended
  }

  private var shape = Shape.undecided
  private var state = State.between
  private var text: [UInt8] = []
  private var isTooLong = false
  private var scan = RowScan(isElement: false)
  private var isAfterComma = false
  private var isAtLineStart = true
  private var isFirstByte = true
  private var rowLine = 1
  private var ordinal = 0
  /// The line of the next byte, from 1.
  private(set) var line = 1

  /// The next row that ends in `chunk`, searched from `position`, which is moved on; nil once the
  /// chunk is used up.
  /// - Throws: `malformed` for what is neither an array nor objects.
  mutating func next(in chunk: [UInt8], from position: inout Int) throws(CatalogueError)
    -> SplitRow?
  {
    var start = position
    while position < chunk.count {
      if state == .row, scan.isInPlainText { skipPlainText(chunk, &position) }
      guard position < chunk.count else { break }
      let byte = chunk[position]
      switch state {
      case .row:
        switch scan.step(byte, isAtLineStart: isAtLineStart) {
        case .inside:
          advance(byte, &position)
        case .endsWith:
          advance(byte, &position)
          keep(chunk[start..<position])
          return endRow(then: .between)
        case .endsBefore:
          keep(chunk[start..<position])
          isAfterComma = byte == UInt8(ascii: ",")
          advance(byte, &position)
          return endRow(then: isAfterComma ? .between : .ended)
        case .breaks(let reason):
          guard shape == .objects else { throw malformed(reason.sentence) }
          return breakRow(reason.sentence, then: reason == .noEnd ? .between : .lost)
        }
      case .between:
        if let row = try begin(byte) {
          if state != .lost { advance(byte, &position) }
          return row
        }
        start = position
        if state != .row { advance(byte, &position) }
      case .lost:
        if isAtLineStart, byte == UInt8(ascii: "{") {
          state = .between
        } else {
          advance(byte, &position)
        }
      case .ended:
        guard RowScan.isSpace(byte) else {
          throw malformed("There is more after the JSON array's end.")
        }
        advance(byte, &position)
      }
    }
    if state == .row { keep(chunk[min(start, position)..<position]) }
    return nil
  }

  /// Says that there are no more chunks.
  /// - Throws: `truncated` if a row, or the array, has no end.
  func finish() throws(CatalogueError) {
    if state == .row {
      throw CatalogueError(
        .truncated, "The file ends inside row \(ordinal), which starts here.",
        line: rowLine)
    }
    if shape == .array, state != .ended {
      throw CatalogueError(.truncated, "The file ends inside its JSON array.", line: line)
    }
  }

  /// Takes the first byte of what may be a row; a row that is there and none at once is answered.
  private mutating func begin(_ byte: UInt8) throws(CatalogueError) -> SplitRow? {
    if isFirstByte { try refuseMark(byte) }
    guard !RowScan.isSpace(byte) else { return nil }
    switch (shape, byte) {
    case (.undecided, UInt8(ascii: "[")):
      shape = .array
    case (.undecided, UInt8(ascii: "{")), (.objects, UInt8(ascii: "{")):
      shape = .objects
      beginRow()
    case (.undecided, _):
      throw malformed("The file is neither a JSON array nor JSON objects.")
    case (.objects, _):
      beginRow()
      return breakRow("The row is not a JSON object.", then: .lost)
    case (.array, UInt8(ascii: "]")) where !isAfterComma:
      state = .ended
    case (.array, UInt8(ascii: "]")), (.array, UInt8(ascii: ",")):
      beginRow()
      isAfterComma = true
      return breakRow(
        "There is nothing beside a comma.", then: byte == UInt8(ascii: ",") ? .between : .ended)
    case (.array, _):
      beginRow()
    }
    return nil
  }

  private mutating func beginRow() {
    (state, rowLine) = (.row, line)
    ordinal &+= 1
    (text, isTooLong, isAfterComma) = ([], false, false)
    scan = RowScan(isElement: shape == .array)
  }

  private mutating func endRow(then next: State) -> SplitRow {
    state = next
    defer { text = [] }
    return SplitRow(ordinal: ordinal, line: rowLine, content: isTooLong ? .tooLong : .text(text))
  }

  private mutating func breakRow(_ reason: String, then next: State) -> SplitRow {
    state = next
    text = []
    return SplitRow(ordinal: ordinal, line: rowLine, content: .broken(reason))
  }

  private mutating func keep(_ bytes: ArraySlice<UInt8>) {
    guard !isTooLong else { return }
    guard text.count + bytes.count <= Self.maximumRowBytes else {
      (text, isTooLong) = ([], true)
      return
    }
    text += bytes
  }

  /// Passes over the bytes that mean nothing to ``scan``: most of any file.
  private mutating func skipPlainText(_ chunk: [UInt8], _ position: inout Int) {
    let start = position
    while position < chunk.count {
      if RowScan.endsPlainText(chunk[position]) { break }
      position &+= 1
    }
    if position > start { isAtLineStart = false }
  }

  @inline(__always)
  private mutating func advance(_ byte: UInt8, _ position: inout Int) {
    position &+= 1
    isFirstByte = false
    isAtLineStart = byte == 0x0A
    if isAtLineStart { line &+= 1 }
  }

  /// Refuses the first byte of any byte order mark; none of them can start a JSON text.
  private func refuseMark(_ byte: UInt8) throws(CatalogueError) {
    guard byte == 0xEF || byte == 0xFE || byte == 0xFF else { return }
    throw malformed("The file starts with a byte order mark; save it as UTF-8 without one.")
  }

  private func malformed(_ reason: String) -> CatalogueError {
    CatalogueError(.malformed, reason, line: line)
  }
}

/// One row of the bytes to import, as ``RowSplitter`` finds it.
struct SplitRow: Sendable, Equatable {
  /// What was found.
  enum Content: Sendable, Equatable {
    /// The text between the row's ends. Whether it is JSON is not known yet.
    case text([UInt8])
    /// A row of more than ``RowSplitter/maximumRowBytes``.
    case tooLong
    /// No row, or one without an end; the sentence says which.
    case broken(String)
  }

  /// Its number, from 1.
  let ordinal: Int
  /// The line it starts on, from 1; lines end with LF.
  let line: Int
  /// What was found.
  let content: Content
}
