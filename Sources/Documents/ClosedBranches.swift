/// What a tree remembers of branches that merges closed: when the branches that it still holds were closed,
/// and which branches were removed from it. Of a removed branch only a mark is kept (``marks``).
package struct ClosedBranches: Sendable, Equatable {
  /// How many closed branches a tree holds with their revisions; the newest are kept.
  package static let maximumStanding = 64
  /// How many marks are kept, the newest: 184 KiB.
  package static let maximumMarks = 4_096
  /// How many days a tree holds a closed branch, and how many more days the mark of a removed branch is kept.
  package static let days = 90

  /// The closed branches that the tree holds, in the order in which they were closed.
  var standing: [ClosedBranch] = []
  /// The marks of removed branches, oldest first, each of ``ClosedBranch/byteCount`` bytes. Searches use the
  /// bytes, because otherwise each read of a tree would decode thousands of marks.
  private(set) var marks: [UInt8] = []

  init() {}

  /// Reads the end of an encoded tree.
  /// - Throws: `damaged` for bytes that ``ClosedBranch/bytes`` can't produce.
  init(
    standing: Slice<UnsafeRawBufferPointer>, marks: Slice<UnsafeRawBufferPointer>
  ) throws(DocumentError) {
    let size = ClosedBranch.byteCount
    let damaged = DocumentError(.damaged, "The stored revision tree is damaged")
    for index in stride(from: standing.startIndex, to: standing.endIndex, by: size) {
      let end = min(index + size, standing.endIndex)
      guard let branch = ClosedBranch(standing[index..<end]) else { throw damaged }
      self.standing.append(branch)
    }
    guard marks.count.isMultiple(of: size) else { throw damaged }
    // The tree's checksum covers the marks, and there may be thousands, so only their flags are checked here.
    for index in stride(from: marks.startIndex, to: marks.endIndex, by: size) {
      guard ClosedBranch.flagOffsets.allSatisfy({ marks[index + $0] <= 1 }) else { throw damaged }
    }
    self.marks = Array(marks)
  }

  var isEmpty: Bool { standing.isEmpty && marks.isEmpty }
  var markCount: Int { marks.count / ClosedBranch.byteCount }

  /// Whether a branch that was removed from the tree ended in this revision, or in a tombstone whose parent
  /// this is.
  func hasMark(of revision: RevisionID) -> Bool {
    hasMark(ofTombstone: revision) || hasMark(ofLeaf: revision)
  }

  /// Whether this is the last revision before the tombstone of a branch that was removed from the tree.
  func hasMark(ofLeaf revision: RevisionID) -> Bool {
    contains(ClosedBranch(leaf: revision), at: ClosedBranch.leafBytes)
  }

  private func hasMark(ofTombstone revision: RevisionID) -> Bool {
    contains(ClosedBranch(tombstone: revision, leaf: nil, day: 0), at: ClosedBranch.tombstoneBytes)
  }

  /// Looks in one part of the marks for the same generation and the same bytes.
  private func contains(_ wanted: ClosedBranch, at part: Range<Int>) -> Bool {
    guard !marks.isEmpty else { return false }
    let pattern = wanted.bytes
    let size = ClosedBranch.byteCount
    return marks.withUnsafeBytes { all in
      pattern.withUnsafeBytes { pattern in
        // The last bytes of a digest differ in most marks, so they are compared first.
        let rare = part.upperBound - MemoryLayout<UInt64>.size
        let wanted = pattern.loadUnaligned(fromByteOffset: rare, as: UInt64.self)
        var start = 0
        while start + size <= all.count {
          if all.loadUnaligned(fromByteOffset: start + rare, as: UInt64.self) == wanted,
            Self.equal(all, from: start, pattern, in: part),
            Self.equal(all, from: start, pattern, in: ClosedBranch.generationBytes)
          {
            return true
          }
          start += size
        }
        return false
      }
    }
  }

  private static func equal(
    _ marks: UnsafeRawBufferPointer, from start: Int, _ pattern: UnsafeRawBufferPointer,
    in range: Range<Int>
  ) -> Bool {
    for index in range where marks[start + index] != pattern[index] { return false }
    return true
  }

  /// Adds a mark for a removed branch, with this day as its date.
  mutating func mark(_ branch: ClosedBranch, on day: Int) {
    var branch = branch
    branch.day = day
    marks += branch.bytes
  }

  /// Removes marks older than ``days`` days, and the oldest marks above ``maximumMarks``. If the clock was
  /// set back, marks stay longer.
  mutating func forgetOldMarks(on day: Int) {
    let size = ClosedBranch.byteCount
    var count = max(0, markCount - Self.maximumMarks)
    while (count + 1) * size <= marks.count,
      let oldest = ClosedBranch(marks[count * size..<(count + 1) * size]),
      day - oldest.day > Self.days
    {
      count += 1
    }
    marks.removeFirst(count * size)
  }
}
