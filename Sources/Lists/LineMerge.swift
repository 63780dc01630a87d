/// The three-way merge of texts by lines. A line that only one side changed keeps that change.
///
/// Source: Khanna, Kunal, Pierce, "A Formal Investigation of Diff3", 2007. The differences are found by the
/// algorithm of Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
enum LineMerge {
  /// The most lines of a text that is merged. A longer text is a conflict.
  static let maximumLines = 10_000
  /// The most differences between the base and one side. More are a conflict. This bounds time and memory.
  static let maximumDifferences = 1_000

  /// The merged text; nil when both sides changed the same lines in different ways.
  static func merged(base: String, theirs: String, mine: String) -> String? {
    if mine.utf8.elementsEqual(theirs.utf8) { return mine }
    if base.utf8.elementsEqual(theirs.utf8) { return mine }
    if base.utf8.elementsEqual(mine.utf8) { return theirs }
    let (base, theirs, mine) = (lines(base), lines(theirs), lines(mine))
    guard max(base.count, theirs.count, mine.count) <= maximumLines,
      let left = changes(base, theirs), let right = changes(base, mine)
    else { return nil }
    return merge(base, theirs, left, mine, right)
  }

  /// A run of the base's lines that one side has replaced.
  private struct Hunk {
    var base: Range<Int>
    var side: Range<Int>
  }

  private static func lines(_ text: String) -> [Substring.UTF8View] {
    var lines: [Substring.UTF8View] = []
    var rest = Substring(text).utf8
    while let end = rest.firstIndex(of: 0x0A) {
      lines.append(rest[...end])
      rest = rest[rest.index(after: end)...]
    }
    if !rest.isEmpty { lines.append(rest) }
    return lines
  }

  private static func merge(
    _ base: [Substring.UTF8View], _ theirs: [Substring.UTF8View], _ left: [Hunk],
    _ mine: [Substring.UTF8View], _ right: [Hunk]
  ) -> String? {
    var output: [UInt8] = []
    var (next, l, r) = (0, 0, 0)
    while l < left.count || r < right.count {
      let leftHunk = l < left.count ? left[l] : nil
      let rightHunk = r < right.count ? right[r] : nil
      if let leftHunk, let rightHunk, touch(leftHunk.base, rightHunk.base) {
        guard leftHunk.base == rightHunk.base,
          equal(theirs[leftHunk.side], mine[rightHunk.side])
        else { return nil }
        append(base[next..<leftHunk.base.lowerBound], to: &output)
        append(theirs[leftHunk.side], to: &output)
        next = leftHunk.base.upperBound
        (l, r) = (l + 1, r + 1)
        continue
      }
      let isLeft =
        rightHunk.map { (leftHunk?.base.lowerBound ?? .max) < $0.base.lowerBound } ?? true
      guard let hunk = isLeft ? leftHunk : rightHunk else { break }
      append(base[next..<hunk.base.lowerBound], to: &output)
      append((isLeft ? theirs : mine)[hunk.side], to: &output)
      next = hunk.base.upperBound
      if isLeft { l += 1 } else { r += 1 }
    }
    append(base[next...], to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  /// Whether two runs of the base have a line in common or are adjacent. Adjacent changes are a conflict too,
  /// because the order of inserted lines would be ambiguous.
  private static func touch(_ one: Range<Int>, _ other: Range<Int>) -> Bool {
    one.lowerBound <= other.upperBound && other.lowerBound <= one.upperBound
  }

  private static func equal(
    _ one: ArraySlice<Substring.UTF8View>, _ other: ArraySlice<Substring.UTF8View>
  ) -> Bool {
    one.count == other.count && zip(one, other).allSatisfy { $0.elementsEqual($1) }
  }

  private static func append(_ lines: ArraySlice<Substring.UTF8View>, to output: inout [UInt8]) {
    for line in lines {
      // The last line of a text may be followed by other lines in the result.
      if let last = output.last, last != 0x0A { output.append(0x0A) }
      output += line
    }
  }

  /// The hunks that one side has changed, in order; nil for too many differences.
  private static func changes(
    _ base: [Substring.UTF8View], _ side: [Substring.UTF8View]
  ) -> [Hunk]? {
    let prefix = zip(base, side).prefix { $0.elementsEqual($1) }.count
    let suffix = zip(base.dropFirst(prefix).reversed(), side.dropFirst(prefix).reversed())
      .prefix { $0.elementsEqual($1) }.count
    let middle = (base: prefix..<base.count - suffix, side: prefix..<side.count - suffix)
    if middle.base.isEmpty || middle.side.isEmpty {
      return middle.base.isEmpty && middle.side.isEmpty
        ? [] : [Hunk(base: middle.base, side: middle.side)]
    }
    guard let kept = matches(Array(base[middle.base]), Array(side[middle.side])) else { return nil }
    var hunks: [Hunk] = []
    var (b, s) = (prefix, prefix)
    for match in kept + [(middle.base.count, middle.side.count)] {
      let (nextBase, nextSide) = (prefix + match.0, prefix + match.1)
      if b < nextBase || s < nextSide {
        hunks.append(Hunk(base: b..<nextBase, side: s..<nextSide))
      }
      (b, s) = (nextBase + 1, nextSide + 1)
    }
    return hunks
  }

  /// The lines that both have, as pairs of indices; nil for too many differences.
  private static func matches(
    _ base: [Substring.UTF8View], _ side: [Substring.UTF8View]
  ) -> [(Int, Int)]? {
    let most = min(base.count + side.count, maximumDifferences)
    let offset = most + 1
    var furthest = [Int](repeating: 0, count: 2 * offset + 1)
    var history: [[Int]] = []
    for count in 0...most {
      history.append(furthest)
      for diagonal in stride(from: -count, through: count, by: 2) {
        let goesDown =
          diagonal == -count
          || diagonal != count && furthest[offset + diagonal - 1] < furthest[offset + diagonal + 1]
        var x =
          goesDown ? furthest[offset + diagonal + 1] : furthest[offset + diagonal - 1] + 1
        while x < base.count, x - diagonal < side.count, x - diagonal >= 0,
          base[x].elementsEqual(side[x - diagonal])
        {
          x += 1
        }
        furthest[offset + diagonal] = x
        if x >= base.count, x - diagonal >= side.count {
          return path(back: history, offset, to: (base.count, side.count), base, side)
        }
      }
    }
    return nil
  }

  private static func path(
    back history: [[Int]], _ offset: Int, to end: (Int, Int), _ base: [Substring.UTF8View],
    _ side: [Substring.UTF8View]
  ) -> [(Int, Int)] {
    var (x, y) = end
    var matches: [(Int, Int)] = []
    for (count, furthest) in history.enumerated().reversed() {
      let diagonal = x - y
      let goesDown =
        diagonal == -count
        || diagonal != count && furthest[offset + diagonal - 1] < furthest[offset + diagonal + 1]
      let before = goesDown ? diagonal + 1 : diagonal - 1
      let startX = count == 0 ? 0 : furthest[offset + before]
      let startY = count == 0 ? 0 : startX - before
      while x > startX, y > startY, x - 1 >= 0, y - 1 >= 0,
        base[x - 1].elementsEqual(side[y - 1])
      {
        matches.append((x - 1, y - 1))
        (x, y) = (x - 1, y - 1)
      }
      (x, y) = (startX, startY)
    }
    return matches.reversed()
  }
}
