/// Finds the rows in a JSON array, in a sequence of objects (one on each line, pretty-printed or merely concatenated) or
/// in a map from id to object, chunk by chunk. It keeps at most one row in memory.
///
/// It recognises only strings, escapes and brackets; the parser checks the text of a row. The chunk boundaries do
/// not affect the result. In a sequence of objects, a row without an end is dropped when the next line starts an
/// object, so that one broken line costs one row. In an array or a map nothing shows where the next row would start, so a
/// mismatched bracket makes the whole file invalid.
struct RowSplitter {
  /// The longest row, in bytes: 256 KiB, about a hundred times the usual length.
  static let maximumRowBytes = 256 * 1024

  private enum Shape { case undecided, array, objects, lists, map }

  private enum State {
    /// Before a row.
    case between
    /// Inside a row.
    case row
    /// In a sequence of objects: after a broken row, before the next line that starts with an object.
    case lost
    /// After the array or the map.
    case ended
  }

  private var shape = Shape.undecided
  private var state = State.between
  private var text: [UInt8] = []
  private var isTooLong = false
  private var scan = RowScan(endedBy: nil)
  private let isAlone: Bool
  private var isAfterComma = false
  private var isAtLineStart = true
  private var isOpen = false
  private var rowLine: Int
  private var ordinal = 0
  /// The line of the next byte, from 1.
  private(set) var line: Int

  /// Makes a splitter of a text.
  /// - Parameter isMap: whether the text is a map from id to object, which looks like one object.
  /// - Parameter isLists: whether the text is a list on each line, which looks like one array.
  /// - Parameter line: the line on which the text starts.
  /// - Parameter isAlone: whether the text goes on behind the array.
  init(isMap: Bool = false, isLists: Bool = false, isAlone: Bool = false, line: Int = 1) {
    self.isAlone = isAlone
    shape = isMap ? .map : isLists ? .lists : .undecided
    (self.line, rowLine) = (line, line)
  }

  /// Whether the array or the map has ended, so that no row follows.
  var isEnded: Bool { state == .ended }

  /// Whether a byte may stand between rows: white space, or the separator of RFC 7464's sequences.
  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool { RowScan.isSpace(byte) || byte == 0x1E }

  /// The next row that ends in `chunk`, searched from `position`, which is moved on; nil at the end of the chunk.
  /// - Throws: `malformed` for a text that is neither an array nor a sequence of objects.
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
        case .inside: advance(byte, &position)
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
          guard shape == .objects || shape == .lists else { throw malformed(reason.rawValue) }
          return breakRow(reason.rawValue, then: reason == .noEnd ? .between : .lost)
        }
      case .between:
        if let row = try begin(byte) {
          if state != .lost { advance(byte, &position) }
          return row
        }
        start = position
        if state != .row { advance(byte, &position) }
      case .lost:
        if isAtLineStart, byte == UInt8(ascii: shape == .lists ? "[" : "{") {
          state = .between
        } else {
          advance(byte, &position)
        }
      case .ended:
        if isAlone { return nil }
        // couchbackup writes an array on each line.
        if shape == .array, byte == UInt8(ascii: "[") { state = .between }
        guard Self.isSpace(byte) || state == .between else {
          throw malformed("There is text after the end of the JSON array.")
        }
        advance(byte, &position)
      }
    }
    if state == .row { keep(chunk[min(start, position)..<position]) }
    return nil
  }

  /// Ends the input.
  /// - Throws: `truncated` if a row or the array has no end.
  func finish() throws(CatalogueError) {
    if state == .row {
      throw CatalogueError(
        .truncated, "The file ends inside row \(ordinal), which starts here.",
        line: rowLine)
    }
    if shape == .array || shape == .map, state != .ended {
      throw CatalogueError(.truncated, "The file ends inside its JSON array.", line: line)
    }
  }

  /// Processes a byte between rows. Returns a broken row if the byte can't start one there.
  private mutating func begin(_ byte: UInt8) throws(CatalogueError) -> SplitRow? {
    // Files that were joined have a byte order mark each.
    guard !Self.isSpace(byte), shape != .objects || ![0xEF, 0xBB, 0xBF].contains(byte) else {
      return nil
    }
    switch (shape, byte) {
    case (.map, UInt8(ascii: "{")) where !isOpen: isOpen = true
    case (.map, UInt8(ascii: "}")): state = .ended
    case (.undecided, UInt8(ascii: "[")): shape = .array
    case (.undecided, UInt8(ascii: "{")), (.objects, UInt8(ascii: "{")):
      shape = .objects
      beginRow()
    case (.undecided, _): throw malformed("The file is neither a JSON array nor JSON objects.")
    case (.lists, UInt8(ascii: "[")): beginRow()
    // Lines cut out of an array end with its commas.
    case (.objects, UInt8(ascii: ",")) where ordinal > 0 && !isAfterComma: isAfterComma = true
    case (.objects, _), (.lists, _):
      beginRow()
      return breakRow("The row is not a JSON object.", then: .lost)
    // People who edit a file leave a comma after the last row.
    case (.array, UInt8(ascii: "]")): state = .ended
    case (.array, UInt8(ascii: ",")), (.map, UInt8(ascii: ",")):
      beginRow()
      isAfterComma = true
      return breakRow("A value is missing beside a comma.", then: .between)
    case (.array, _), (.map, _): beginRow()
    }
    return nil
  }

  private mutating func beginRow() {
    (state, rowLine) = (.row, line)
    ordinal &+= 1
    (text, isTooLong, isAfterComma) = ([], false, false)
    switch shape {
    case .array: scan = RowScan(endedBy: UInt8(ascii: "]"))
    case .map: scan = RowScan(endedBy: UInt8(ascii: "}"))
    case .undecided, .objects, .lists: scan = RowScan(endedBy: nil)
    }
  }

  private mutating func endRow(then next: State) -> SplitRow {
    state = next
    defer { text = [] }
    let content: SplitRow.Content =
      isTooLong
      ? .tooLong
      : shape == .map ? .member(Array("{".utf8) + text + Array("}".utf8)) : .text(text)
    return SplitRow(ordinal: ordinal, line: rowLine, content: content)
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

  /// Skips bytes that have no meaning for ``scan``. These are most bytes of a file.
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
    isAtLineStart = byte == 0x0A
    if isAtLineStart { line &+= 1 }
  }

  private func malformed(_ reason: String) -> CatalogueError {
    CatalogueError(.malformed, reason, line: line)
  }
}

/// One row of the bytes to import.
struct SplitRow: Sendable, Equatable {
  enum Content: Sendable, Equatable {
    /// The text of the row. It may not be valid JSON.
    case text([UInt8])
    /// A member of a map, as an object: its name is the hotel's id. It may not be valid JSON.
    case member([UInt8])
    /// A row in another one; see ``NestedRows``.
    case inner([UInt8])
    /// A row of more than ``RowSplitter/maximumRowBytes``.
    case tooLong
    /// No hotel and no fault either: what it is.
    case other(String)
    /// Not a row, or a row without an end; the sentence gives the reason.
    case broken(String)
  }

  /// The row's number, from 1.
  let ordinal: Int
  /// The line on which it starts, from 1. Lines end with LF.
  let line: Int
  let content: Content
  /// What the names of the objects and the list around the row say; see ``GroupedLists``.
  var place = GroupedLists.Place()
}

/// Follows one row byte by byte and finds its end; see ``RowSplitter``.
struct RowScan {
  /// The meaning of a byte for the row.
  enum Step: Equatable {
    /// It belongs to the row, which continues.
    case inside
    /// It is the row's last byte.
    case endsWith
    /// It follows the row: the comma or the bracket after an element.
    case endsBefore
    /// It can't belong to the row.
    case breaks(Break)
  }

  /// Why a byte can't belong to the row, with the message for the operator.
  enum Break: String {
    /// It starts the next object although the row has not ended.
    case noEnd = "The row has no end."
    /// It closes a bracket that is not open.
    case bracket = "A bracket does not match."
    /// It ends the line inside a string.
    case string = "The line ends inside a string."
  }

  /// The bracket of the array or the map around the row; nil if there is none.
  private let closing: UInt8?
  private var brackets = BracketStack()
  private var isInString = false
  private var string = StringScan()
  /// The last byte outside of strings that is not white space.
  private var previous: UInt8 = 0

  /// Makes the scan of a row that starts at the next byte.
  /// - Parameter closing: the bracket that may follow an array's element or a map's member; nil for an object by itself.
  init(endedBy closing: UInt8?) { self.closing = closing }

  private var isElement: Bool { closing != nil }

  /// Whether all bytes until one of ``endsPlainText(_:)`` have no meaning.
  var isInPlainText: Bool { isInString && !string.isEscaped }

  /// Whether a byte in a string has a special meaning.
  @inline(__always)
  static func endsPlainText(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x0A
  }

  /// Whether a byte is JSON white space (RFC 8259 section 2).
  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  mutating func step(_ byte: UInt8, isAtLineStart: Bool) -> Step {
    if isInString { return stepInString(byte) }
    guard !Self.isSpace(byte) else { return .inside }
    defer { previous = byte }
    switch byte {
    case UInt8(ascii: "\""): isInString = true
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      if isAtLineStart, isNextObject(byte) { return .breaks(.noEnd) }
      brackets.open(byte)
    case closing where brackets.isEmpty: return .endsBefore
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      guard brackets.close(byte) else { return .breaks(.bracket) }
      if !isElement, brackets.isEmpty { return .endsWith }
    case UInt8(ascii: ",") where isElement && brackets.isEmpty: return .endsBefore
    default: break
    }
    return .inside
  }

  private mutating func stepInString(_ byte: UInt8) -> Step {
    let wasEscaped = string.isEscaped
    if string.ends(at: byte) {
      isInString = false
      previous = byte
    } else if byte == 0x0A, !wasEscaped, !isElement {
      return .breaks(.string)
    }
    return .inside
  }

  /// Whether a `{` at the start of a line can only be the next row. Inside a row, JSON allows an object only after
  /// `:`, after `[` and, in an array, after a comma.
  private func isNextObject(_ byte: UInt8) -> Bool {
    guard !isElement, byte == UInt8(ascii: "{"), !brackets.isEmpty else { return false }
    switch previous {
    case UInt8(ascii: ":"), UInt8(ascii: "["): return false
    case UInt8(ascii: ","): return brackets.innermost != UInt8(ascii: "[")
    default: return true
    }
  }
}

/// The open brackets of a row. Its size is bounded: brackets nested more deeply than ``maximumDepth`` are only
/// counted, because the parser refuses such a row anyway.
struct BracketStack {
  /// How many levels are stored: the parser's limit.
  static let maximumDepth = 64

  private var brackets: [UInt8] = []
  private var deeper = 0

  var isEmpty: Bool { brackets.isEmpty }

  /// The innermost open bracket, `{` or `[`; nil when it is only counted, or none is open.
  var innermost: UInt8? { deeper == 0 ? brackets.last : nil }

  /// Opens `{` or `[`.
  mutating func open(_ bracket: UInt8) {
    if brackets.count < Self.maximumDepth { brackets.append(bracket) } else { deeper &+= 1 }
  }

  /// Closes with `}` or `]`; false if it does not match the innermost open bracket.
  mutating func close(_ bracket: UInt8) -> Bool {
    if deeper > 0 {
      deeper &-= 1
      return true
    }
    let opening = bracket == UInt8(ascii: "}") ? UInt8(ascii: "{") : UInt8(ascii: "[")
    return brackets.popLast() == opening
  }
}

/// Finds the end of a JSON string, byte by byte.
struct StringScan {
  /// Whether the next byte follows a backslash that escapes it.
  private(set) var isEscaped = false

  /// Takes the next byte of a string.
  /// - Returns: whether it is the quotation mark that ends the string.
  mutating func ends(at byte: UInt8) -> Bool {
    if isEscaped {
      isEscaped = false
      return false
    }
    isEscaped = byte == UInt8(ascii: "\\")
    return byte == UInt8(ascii: "\"")
  }
}
