/// What a tree remembers of branches that merges closed: when the ones that it still holds were closed, and which it
/// has let go of since. These are ``marks``: no leaves, of no length but their own.
package struct ClosedBranches: Sendable, Equatable {
  /// How many closed branches a tree holds whole, the newest.
  package static let maximumStanding = 64
  /// How many marks are kept, the newest: 184 KiB.
  package static let maximumMarks = 4_096
  /// How many days a closed branch is held, and how many its mark is kept after that.
  package static let days = 90

  /// Branches that the tree holds, in the order in which they were closed.
  var standing: [ClosedBranch] = []
  /// Branches that the tree let go of, each in ``ClosedBranch/byteCount`` bytes, the oldest first. They are searched
  /// as they are: to read a list would else be to read thousands of them.
  private(set) var marks: [UInt8] = []

  /// None.
  init() {}

  /// Reads what an encoded tree ends with.
  /// - Throws: `damaged` for bytes that ``ClosedBranch/append(to:)`` does not make.
  init(
    standing: Slice<UnsafeRawBufferPointer>, marks: Slice<UnsafeRawBufferPointer>
  ) throws(DocumentError) {
    let size = ClosedBranch.byteCount
    let damaged = DocumentError(.damaged, "The stored revision tree is damaged")
    for place in stride(from: standing.startIndex, to: standing.endIndex, by: size) {
      let end = min(place + size, standing.endIndex)
      guard let branch = ClosedBranch(standing[place..<end]) else { throw damaged }
      self.standing.append(branch)
    }
    guard marks.count.isMultiple(of: size) else { throw damaged }
    // The tree's checksum covers them; of thousands only the flags are looked at each time.
    for place in stride(from: marks.startIndex, to: marks.endIndex, by: size) {
      guard ClosedBranch.flagPlaces.allSatisfy({ marks[place + $0] <= 1 }) else { throw damaged }
    }
    self.marks = Array(marks)
  }

  /// Whether there is nothing to remember.
  var isEmpty: Bool { standing.isEmpty && marks.isEmpty }
  /// How many branches are remembered by a mark alone.
  var markCount: Int { marks.count / ClosedBranch.byteCount }

  /// Whether a branch that the tree let go of ended in this revision, or in a tombstone below it.
  func hasMark(of revision: RevisionID) -> Bool {
    hasMark(ofTombstone: revision) || hasMark(ofLeaf: revision)
  }

  /// Whether this is the last revision, before its tombstone, of a branch that the tree let go of.
  func hasMark(ofLeaf revision: RevisionID) -> Bool {
    contains(ClosedBranch(leaf: revision), at: ClosedBranch.leafBytes)
  }

  private func hasMark(ofTombstone revision: RevisionID) -> Bool {
    contains(ClosedBranch(tombstone: revision, leaf: nil, day: 0), at: ClosedBranch.tombstoneBytes)
  }

  /// Looks for the same generation and the same bytes in one part of the marks.
  private func contains(_ wanted: ClosedBranch, at part: Range<Int>) -> Bool {
    guard !marks.isEmpty else { return false }
    let pattern = wanted.bytes
    let size = ClosedBranch.byteCount
    return marks.withUnsafeBytes { all in
      pattern.withUnsafeBytes { pattern in
        // Most marks are told from the wanted one by their digest's last bytes.
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
    for place in range where marks[start + place] != pattern[place] { return false }
    return true
  }

  /// Remembers a branch by a mark alone from this day on.
  mutating func mark(_ branch: ClosedBranch, on day: Int) {
    var branch = branch
    branch.day = day
    marks += branch.bytes
  }

  /// Forgets marks that have been kept long enough, and the oldest of too many. A clock that was set back keeps them
  /// longer.
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
