import Scheduling

extension Array where Element: Sendable {
  /// The length of the runs that are sorted without giving way.
  private static var runLength: Int { 32 }

  /// The elements in order; equal elements keep their order. Sorts runs one by one and then merges them, and gives way
  /// in between.
  /// - Throws: `WorkEnded` (503) when the request has ended.
  package func sortedInSlices(
    _ precedes: @Sendable (Element, Element) -> Bool
  ) async throws -> [Element] {
    var runs: [[Element]] = []
    for start in stride(from: 0, to: count, by: Self.runLength) {
      runs.append(self[start..<Swift.min(start + Self.runLength, count)].sorted(by: precedes))
      try await Slice.giveWay()
    }
    while runs.count > 1 {
      var merged: [[Element]] = []
      for index in stride(from: 0, to: runs.count, by: 2) {
        guard index + 1 < runs.count else {
          merged.append(runs[index])
          break
        }
        merged.append(try await Self.merged(runs[index], runs[index + 1], precedes))
      }
      runs = merged
    }
    return runs.first ?? []
  }

  private static func merged(
    _ left: [Element], _ right: [Element], _ precedes: @Sendable (Element, Element) -> Bool
  ) async throws -> [Element] {
    var merged: [Element] = []
    merged.reserveCapacity(left.count + right.count)
    var (first, second) = (0, 0)
    while first < left.count, second < right.count {
      if precedes(right[second], left[first]) {
        merged.append(right[second])
        second += 1
      } else {
        merged.append(left[first])
        first += 1
      }
      try await Slice.giveWay()
    }
    return merged + left[first...] + right[second...]
  }
}
