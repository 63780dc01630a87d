import Scheduling

/// A run of the base's lines that one side has replaced.
struct LineHunk {
  /// The replaced lines of the base.
  var base: Range<Int>
  /// The lines that replace them.
  var side: Range<Int>
}

/// The differences between two texts, whose lines are numbers.
///
/// Source: Myers, "An O(ND) Difference Algorithm and Its Variations", 1986, figure 2.
enum LineDifferences {
  /// The most differences between the base and one side. This bounds time and memory: a million steps, 2 MB. Places are 16
  /// bits long: the longest text (``LineMerge/maximumLines``) and these differences together are below 32,768.
  static let maximum = 1_000

  /// The hunks that one side has changed, in order; nil for too many differences.
  static func hunks(from base: [Int], to side: [Int]) async throws -> [LineHunk]? {
    let prefix = zip(base, side).prefix { $0 == $1 }.count
    let suffix = zip(base.dropFirst(prefix).reversed(), side.dropFirst(prefix).reversed())
      .prefix { $0 == $1 }.count
    let middle = (base: prefix..<base.count - suffix, side: prefix..<side.count - suffix)
    if middle.base.isEmpty || middle.side.isEmpty {
      return middle.base.isEmpty && middle.side.isEmpty
        ? [] : [LineHunk(base: middle.base, side: middle.side)]
    }
    let kept = try await matches(Array(base[middle.base]), Array(side[middle.side]))
    guard let kept else { return nil }
    var hunks: [LineHunk] = []
    var (b, s) = (prefix, prefix)
    for match in kept + [(middle.base.count, middle.side.count)] {
      let (nextBase, nextSide) = (prefix + match.0, prefix + match.1)
      if b < nextBase || s < nextSide {
        hunks.append(LineHunk(base: b..<nextBase, side: s..<nextSide))
      }
      (b, s) = (nextBase + 1, nextSide + 1)
    }
    return hunks
  }

  /// The lines that both have, as pairs of indices; nil for too many differences.
  private static func matches(_ base: [Int], _ side: [Int]) async throws -> [(Int, Int)]? {
    let most = min(base.count + side.count, maximum)
    let offset = most + 1
    var furthest = [Int](repeating: 0, count: 2 * offset + 1)
    // The diagonals that the next step can reach, at each step.
    var history: [[Int16]] = []
    for count in 0...most {
      history.append(furthest[offset - count - 1...offset + count + 1].map { Int16(clamping: $0) })
      for diagonal in stride(from: -count, through: count, by: 2) {
        try await Slice.giveWay()
        let goesDown =
          diagonal == -count
          || diagonal != count && furthest[offset + diagonal - 1] < furthest[offset + diagonal + 1]
        var x = goesDown ? furthest[offset + diagonal + 1] : furthest[offset + diagonal - 1] + 1
        while x < base.count, x - diagonal < side.count, x - diagonal >= 0,
          base[x] == side[x - diagonal]
        {
          x += 1
        }
        furthest[offset + diagonal] = x
        if x >= base.count, x - diagonal >= side.count {
          return path(back: history, to: (base.count, side.count), base, side)
        }
      }
    }
    return nil
  }

  private static func path(
    back history: [[Int16]], to end: (Int, Int), _ base: [Int], _ side: [Int]
  ) -> [(Int, Int)] {
    var (x, y) = end
    var matches: [(Int, Int)] = []
    for (count, furthest) in history.enumerated().reversed() {
      let (diagonal, offset) = (x - y, count + 1)
      let goesDown =
        diagonal == -count
        || diagonal != count && furthest[offset + diagonal - 1] < furthest[offset + diagonal + 1]
      let before = goesDown ? diagonal + 1 : diagonal - 1
      let startX = count == 0 ? 0 : Int(furthest[offset + before])
      let startY = count == 0 ? 0 : startX - before
      while x > startX, y > startY, x - 1 >= 0, y - 1 >= 0, base[x - 1] == side[y - 1] {
        matches.append((x - 1, y - 1))
        (x, y) = (x - 1, y - 1)
      }
      (x, y) = (startX, startY)
    }
    return matches.reversed()
  }
}
