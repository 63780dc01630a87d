/// Short names for the custom properties of the style sheets, such as `--a` for `--accent`.
///
/// The names are the same in all sheets, because those of a page share them. A script names one as a whole text in double
/// quotes: `"--accent"`. Pages must not name any.
struct CustomProperties {
  private let names: [[UInt8]: [UInt8]]

  /// Names the properties in the order in which they first occur.
  init(of sheets: [[UInt8]]) {
    var names: [[UInt8]: [UInt8]] = [:]
    for sheet in sheets {
      for range in Self.ranges(in: sheet) where names[Array(sheet[range])] == nil {
        names[Array(sheet[range])] = Array("--\(ShortNames.name(names.count))".utf8)
      }
    }
    self.names = names
  }

  /// A sheet with the short names.
  func shortened(_ sheet: [UInt8]) -> [UInt8] { shortened(sheet, at: Self.ranges(in: sheet)) }

  /// A script with the short names. What is not in quotes may be a decrement: `--line`.
  func shortened(script: [UInt8]) -> [UInt8] {
    let quote = UInt8(ascii: "\"")
    return shortened(
      script,
      at: Self.ranges(in: script).filter {
        script[..<$0.lowerBound].last == quote && script[$0.upperBound...].first == quote
      })
  }

  private func shortened(_ text: [UInt8], at ranges: [Range<Int>]) -> [UInt8] {
    var (result, end): ([UInt8], Int) = ([], 0)
    for range in ranges {
      result += text[end..<range.lowerBound] + (names[Array(text[range])] ?? Array(text[range]))
      end = range.upperBound
    }
    return result + text[end...]
  }

  /// Where names of properties stand: two hyphens that are not within a word, and what follows of one.
  private static func ranges(in sheet: [UInt8]) -> [Range<Int>] {
    var ranges: [Range<Int>] = []
    var index = 0
    while index < sheet.count {
      let end = sheet[index...].firstIndex { !isOfName($0) } ?? sheet.count
      if sheet[index..<end].starts(with: "--".utf8), end - index > 2 { ranges.append(index..<end) }
      index = max(end, index + 1)
    }
    return ranges
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || ScriptScanner.isWord(byte)
  }
}
