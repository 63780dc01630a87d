import Scheduling

/// The three-way merge of texts by lines. A line that only one side changed keeps that change.
///
/// Source: Khanna, Kunal, Pierce, "A Formal Investigation of Diff3", 2007.
enum LineMerge {
  /// The most lines of a text that is merged. A longer text is a conflict.
  static let maximumLines = 10_000

  /// The merged text; nil when both sides changed the same lines in different ways, or too many, or when the text would be
  /// longer than ``ListLimits/markdownBytes``. The work takes up to a million steps and gives way between them.
  static func merged(base: String, theirs: String, mine: String) async throws -> String? {
    if mine.utf8.elementsEqual(theirs.utf8) { return mine }
    if base.utf8.elementsEqual(theirs.utf8) { return mine }
    if base.utf8.elementsEqual(mine.utf8) { return theirs }
    var lines = NumberedLines()
    guard let base = try await lines.numbers(of: base),
      let theirs = try await lines.numbers(of: theirs),
      let mine = try await lines.numbers(of: mine),
      let left = try await LineDifferences.hunks(from: base, to: theirs)?.flatMap(\.byLine),
      let right = try await LineDifferences.hunks(from: base, to: mine)?.flatMap(\.byLine),
      let text = merge(base, theirs, left, mine, right).map({ lines.text(of: $0) }),
      text.utf8.count <= ListLimits.markdownBytes
    else { return nil }
    return text
  }

  /// The numbers of the merged text's lines.
  private static func merge(
    _ base: [Int], _ theirs: [Int], _ left: [LineHunk], _ mine: [Int], _ right: [LineHunk]
  ) -> [Int]? {
    let hunks = left.map { ($0, theirs[$0.side]) } + right.map { ($0, mine[$0.side]) }
    var output: [Int] = []
    var next = 0
    var last: (hunk: LineHunk, lines: ArraySlice<Int>)?
    for (hunk, lines) in hunks.sorted(by: { $0.0.base.lowerBound < $1.0.base.lowerBound }) {
      // Hunks of one side never touch.
      if let last, last.hunk.touches(hunk) {
        guard last.hunk.base == hunk.base, last.lines == lines else { return nil }
        continue
      }
      output += base[next..<hunk.base.lowerBound] + lines
      next = hunk.base.upperBound
      last = (hunk, lines)
    }
    return output + base[next...]
  }
}

extension LineHunk {
  /// Whether one line replaces one, as when a box is ticked.
  private var isOfOneLine: Bool { base.count == 1 && side.count == 1 }

  /// A run that has as many lines as it replaces is a change of each of them.
  fileprivate var byLine: [LineHunk] {
    guard base.count == side.count else { return [self] }
    return zip(base, side).map { LineHunk(base: $0..<$0 + 1, side: $1..<$1 + 1) }
  }

  /// Whether both change a line, or are adjacent where it is ambiguous which lines come first. It is not if each replaces
  /// one line.
  fileprivate func touches(_ other: LineHunk) -> Bool {
    isOfOneLine && other.isOfOneLine
      ? base == other.base
      : base.lowerBound <= other.base.upperBound && other.base.lowerBound <= base.upperBound
  }
}

/// The lines of some texts as numbers: equal lines have equal numbers, so that a comparison of two lines takes the same
/// time for long ones.
struct NumberedLines {
  private var lines: [Line] = []
  private var numbers: [Line: Int] = [:]

  /// The numbers of a text's lines; nil for more than ``LineMerge/maximumLines``. A line ends behind its line feed.
  mutating func numbers(of text: String) async throws -> [Int]? {
    var found: [Int] = []
    var rest = Substring(text).utf8
    while !rest.isEmpty {
      guard found.count < LineMerge.maximumLines else { return nil }
      try await Slice.giveWay()
      let end = rest.firstIndex(of: 0x0A).map { rest.index(after: $0) } ?? rest.endIndex
      found.append(number(of: Line(bytes: rest[..<end])))
      rest = rest[end...]
    }
    return found
  }

  /// The text with these lines. The last line of a text, which may have no line feed, gets one before other lines.
  func text(of numbers: [Int]) -> String {
    var output: [UInt8] = []
    for number in numbers {
      if let last = output.last, last != 0x0A { output.append(0x0A) }
      output += lines[number].bytes
    }
    return String(decoding: output, as: UTF8.self)
  }

  private mutating func number(of line: Line) -> Int {
    if let known = numbers[line] { return known }
    numbers[line] = lines.count
    lines.append(line)
    return lines.count - 1
  }

  /// A line, compared by its bytes.
  private struct Line: Hashable {
    let bytes: Substring.UTF8View

    static func == (one: Line, other: Line) -> Bool { one.bytes.elementsEqual(other.bytes) }

    func hash(into hasher: inout Hasher) {
      let isContiguous: Void? = bytes.withContiguousStorageIfAvailable {
        hasher.combine(bytes: UnsafeRawBufferPointer($0))
      }
      if isContiguous == nil { for byte in bytes { hasher.combine(byte) } }
    }
  }
}
