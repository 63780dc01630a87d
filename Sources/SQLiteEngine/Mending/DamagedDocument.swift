import Documents
import JSON
import Lanes
import SQLite
import StoreRecords
import Stores

/// A document of which something is not what was written: all that the file has of it.
struct DamagedDocument {
  /// The columns before body and tree.
  var head: RowValues
  /// The winner's body.
  var body: RowValues
  /// The history; nil for one revision.
  var tree: RowValues?
  /// The bodies beside the winner's, by their rows' numbers.
  var others: [(number: Int64, row: RowValues)]

  /// Whether nothing is wrong with it any more.
  var isWhole: Bool {
    (tree?.isSound ?? true) && others.allSatisfy(\.row.isSound) && lacksOnlyAncestors
  }

  /// Whether columns and body are both what was written.
  var isBodySound: Bool {
    guard head.isSound, let row = head.document else { return false }
    return RowValues(body, of: row, sum: row.bodyChecksum).isSound
  }

  /// Computes the columns back, if they can be.
  /// - Returns: whether they are right and were not.
  mutating func mendHead(now: Timestamp) -> Bool {
    guard !head.isSound, let mended = head.mended() ?? rebuiltHead(now: now) else { return false }
    head = mended
    return true
  }

  /// Computes back what can be of all that belongs to columns that are right.
  /// - Returns: how many values are right that were not.
  mutating func mendContent() -> Int {
    guard head.isSound, let row = head.document else { return 0 }
    var count = 0
    body = RowValues(body, of: row, sum: row.bodyChecksum)
    if !body.isSound, let mended = body.mended(onlyContent: true) {
      body = mended
      count += 1
    }
    tree = row.treeChecksum.map { sum in
      RowValues(tree ?? RowValues(kind: .tree, values: [], checksum: sum), of: row, sum: sum)
    }
    if let damaged = tree, !damaged.isSound, let mended = damaged.mended(onlyContent: true) {
      tree = mended
      count += 1
    }
    for place in others.indices {
      others[place].row.values[0] = .text(Array(row.id.text.utf8))
      guard !others[place].row.isSound, let mended = others[place].row.mended() else { continue }
      others[place].row = mended
      count += 1
    }
    return count
  }

  /// The columns anew, where body or history vouch for the id and the winner: what they don't tell is taken as it
  /// stands, if it can be.
  private func rebuiltHead(now: Timestamp) -> RowValues? {
    guard var row = head.document else { return nil }
    let isBodySound = RowValues(body, of: row, sum: row.bodyChecksum).isSound
    let history = history(of: row)
    guard isBodySound || row.treeChecksum != nil && history != nil else { return nil }
    if let winner = history?.winner, row.treeChecksum != nil { row.isDeleted = winner.isDeleted }
    if isBodySound {
      row.type = (try? DocumentBody(parsing: body.content, limits: .request))?.type
    }
    let times = 0...max(now.milliseconds, 0)
    if !times.contains(row.updated) { row.updated = now.milliseconds }
    if !times.contains(row.created) { row.created = row.updated }
    let ownsBodies = others.contains { _, other in
      var other = other
      other.values[0] = .text(Array(row.id.text.utf8))
      return other.isSound
    }
    if !ownsBodies { row.first = row.sequence }
    return RowValues(row)
  }

  /// The history; nil where it is lost.
  func history(of row: StoredDocument) -> RevisionTree? {
    guard let decoded = try? row.tree(tree?.content ?? []), let winner = decoded.winner,
      winner.revision == row.revision
    else { return nil }
    return decoded
  }

  /// Whether nothing is lost but bodies of ancestors.
  var lacksOnlyAncestors: Bool {
    guard let row = head.document, head.isSound, body.isSound, let tree = history(of: row) else {
      return false
    }
    let known = soundRevisions(of: row)
    return tree.nodes.allSatisfy { !$0.isLeaf || known.contains($0.revision) }
  }

  /// The revisions whose bodies are what was written.
  private func soundRevisions(of row: StoredDocument) -> Set<RevisionID> {
    var revisions = Set(others.lazy.filter(\.row.isSound).compactMap(\.row.revision))
    if body.isSound { revisions.insert(row.revision) }
    return revisions
  }

  /// What is left of the history: without one, the winner alone.
  func rest(of row: StoredDocument) -> RevisionTree {
    if let tree = history(of: row) { return tree.keeping(soundRevisions(of: row)) }
    var single = row
    single.treeChecksum = nil
    return body.isSound ? (try? single.tree([])) ?? RevisionTree() : RevisionTree()
  }

  /// The bodies that nobody has any more: the damaged ones, and those whose place in a lost history nobody knows.
  func lostBodies(
    of row: StoredDocument, keeping rest: RevisionTree
  ) -> [(revision: String, bytes: [UInt8])] {
    var lost: [(revision: String, bytes: [UInt8])] = []
    if !body.isSound { lost.append((row.revision.description, body.content)) }
    for (_, other) in others where !other.isSound || other.revision.map({ rest[$0] }) == nil {
      lost.append((other.revision?.description ?? "", other.content))
    }
    if let tree, !tree.isSound { lost.append((row.revision.description, tree.content)) }
    if lost.isEmpty { lost.append((row.revision.description, [])) }
    return lost
  }
}

extension RowValues {
  /// The columns of a document.
  init(_ row: StoredDocument) {
    self.init(
      kind: .head,
      values: [
        .integer(row.sequence), .text(Array(row.id.text.utf8)), .integer(row.first),
        .integer(Int64(row.revision.generation)), .text(Array(row.revision.digest.text.utf8)),
        .integer(row.isDeleted ? 1 : 0), .optionalText(row.type.map { Array($0.utf8) }),
        .integer(row.created), .integer(row.updated), .integer(row.bodyChecksum),
        .optionalInteger(row.treeChecksum),
      ], checksum: row.checksum.value)
  }

  /// A body or tree that belongs to a document's winner.
  init(_ content: RowValues, of row: StoredDocument, sum: Int64) {
    self.init(
      kind: content.kind,
      values: [
        .text(Array(row.id.text.utf8)), .integer(Int64(row.revision.generation)),
        .text(Array(row.revision.digest.text.utf8)),
      ], content: content.content, checksum: sum)
  }

  /// A document's columns; nil where a text is none.
  var document: StoredDocument? {
    guard kind == .head, values.count == 11, let id = string(1), let digest = string(4),
      let generation = Int(exactly: integer(3)), (0...1).contains(integer(5))
    else { return nil }
    var type: String?
    if case .optionalText(.some) = values[6] {
      guard let text = string(6) else { return nil }
      type = text
    }
    var treeChecksum: Int64?
    if case .optionalInteger(let sum) = values[10] { treeChecksum = sum }
    return StoredDocument(
      sequence: integer(0), id: DocumentID(stored: id), first: integer(2),
      revision: RevisionID(generation: generation, digest: digest), isDeleted: integer(5) == 1,
      type: type, created: integer(7), updated: integer(8), bodyChecksum: integer(9),
      treeChecksum: treeChecksum)
  }

  /// The revision of a body beside the winner's; nil where it is none.
  var revision: RevisionID? {
    guard kind == .body, values.count == 3, let digest = string(2) else { return nil }
    return RevisionID(generation: Int(clamping: integer(1)), digest: digest)
  }

  /// A document's revision for people, whatever its bytes are.
  var revisionText: String { "\(integer(3))-\(text(4))" }

  /// A text for people, whatever its bytes are.
  func text(_ place: Int) -> String { String(decoding: bytes(place), as: UTF8.self) }

  private func string(_ place: Int) -> String? {
    String(validating: bytes(place), as: UTF8.self)
  }

  /// A text's bytes; none for no text.
  func bytes(_ place: Int) -> [UInt8] {
    switch values[place] {
    case .text(let bytes), .optionalText(.some(let bytes)): bytes
    case .integer, .optionalInteger, .optionalText(nil): []
    }
  }

  /// An integer; 0 for none.
  func integer(_ place: Int) -> Int64 {
    switch values[place] {
    case .integer(let number), .optionalInteger(.some(let number)): number
    case .text, .optionalText, .optionalInteger(nil): 0
    }
  }
}

/// A row's values as the file has them, valid or not, and the checksum that they had when they were written: enough
/// to find out which byte has turned since.
///
/// One byte among a kilobyte can be wrong in some 260,000 ways, each of which is tried: the one that has the right
/// checksum is what was written, but for a chance of 2⁻⁴⁶.
struct RowValues {
  /// A value, in the order in which the checksum goes over them.
  enum Value: Equatable {
    case integer(Int64)
    case optionalInteger(Int64?)
    case text([UInt8])
    case optionalText([UInt8]?)
  }

  /// Bytes that one search hashes at most: 512 MiB take half a second. Beyond a kilobyte that is single bits only,
  /// beyond 8 KiB nothing.
  private static let budget = 512 << 20

  /// The kind of row.
  let kind: Checksum.Kind
  /// What stands before the content.
  var values: [Value]
  /// Body or tree; empty for a row without.
  var content: [UInt8] = []
  /// What the row must add up to.
  var checksum: Int64

  /// Whether they are what was written.
  var isSound: Bool { Checksum.matches(checksum, written.bytes, over: content) }

  /// The row as it was written, if one byte of it has turned; nil where more have, or it is too long to be searched.
  /// - Parameter isKnown: whether only the content can be wrong.
  func mended(onlyContent isKnown: Bool = false) -> RowValues? {
    LanePool.blocking {
      if !isKnown, let row = withChecksumMended ?? withValuesMended { return row }
      return withContentMended
    }
  }

  /// The bytes before the content, and where the values begin in them.
  private var written: (bytes: [UInt8], places: [Int]) {
    var sum = Checksum(kind)
    var places: [Int] = []
    for value in values {
      switch value {
      case .integer(let number):
        places.append(sum.count)
        sum.append(number)
      case .optionalInteger(let number):
        places.append(sum.count + 1)
        sum.append(number)
      case .text(let bytes):
        places.append(sum.count + 8)
        sum.append(bytes: bytes)
      case .optionalText(let bytes):
        places.append(sum.count + 9)
        sum.append(optionalBytes: bytes)
      }
    }
    return (sum.bytes, places)
  }

  /// The same values, if it is the checksum in which a byte has turned.
  private var withChecksumMended: RowValues? {
    let bytes = written.bytes
    let sums = [
      Checksum.value(of: bytes, over: content), Checksum.formerValue(of: bytes, over: content),
    ]
    for right in sums {
      let difference = UInt64(bitPattern: right ^ checksum)
      guard (0..<8).contains(where: { difference & ~(0xFF << (UInt64($0) * 8)) == 0 }) else {
        continue
      }
      var row = self
      row.checksum = right
      return row
    }
    return nil
  }

  private var withValuesMended: RowValues? {
    var (bytes, places) = written
    let length = bytes.count + content.count
    // Integers have at most 24 bytes in all of their widths, each with 255 other values.
    let trials = values.reduce(0) { sum, value in
      switch value {
      case .integer, .optionalInteger: sum + 24 * 255
      case .text(let text): sum + 255 * text.count
      case .optionalText(let text): sum + 255 * (text?.count ?? 0)
      }
    }
    guard Self.isAffordable(trials, of: length) else { return nil }
    for (index, value) in values.enumerated() {
      let place = places[index]
      switch value {
      case .integer(let number), .optionalInteger(.some(let number)):
        for candidate in Self.turned(number) {
          Self.put(candidate, at: place, in: &bytes)
          guard Checksum.matches(checksum, bytes, over: content) else { continue }
          var row = self
          if case .integer = value {
            row.values[index] = .integer(candidate)
          } else {
            row.values[index] = .optionalInteger(candidate)
          }
          return row
        }
        Self.put(number, at: place, in: &bytes)
      case .text(var text), .optionalText(.some(var text)):
        for offset in text.indices {
          for mask in UInt8(1)...255 {
            bytes[place + offset] = text[offset] ^ mask
            guard Checksum.matches(checksum, bytes, over: content) else { continue }
            text[offset] ^= mask
            var row = self
            if case .text = value {
              row.values[index] = .text(text)
            } else {
              row.values[index] = .optionalText(text)
            }
            return row
          }
          bytes[place + offset] = text[offset]
        }
      case .optionalInteger(nil), .optionalText(nil): break
      }
    }
    return nil
  }

  private var withContentMended: RowValues? {
    let bytes = written.bytes
    let bits = (0..<8).map { UInt8(1) << UInt8($0) }
    let others = (UInt8(1)...255).filter { $0.nonzeroBitCount > 1 }
    var content = content
    for masks in [bits, others] {
      let trials = masks.count * content.count
      guard Self.isAffordable(trials, of: bytes.count + content.count) else { return nil }
      for place in content.indices {
        let found = content[place]
        for mask in masks {
          content[place] = found ^ mask
          guard Checksum.matches(checksum, bytes, over: content) else { continue }
          var row = self
          row.content = content
          return row
        }
        content[place] = found
      }
    }
    return nil
  }

  private static func isAffordable(_ trials: Int, of length: Int) -> Bool {
    let (work, overflows) = trials.multipliedReportingOverflow(by: length)
    return !overflows && work <= budget
  }

  /// What an integer may have been before a byte of it turned: SQLite stores as many bytes as it needs, and the first
  /// one's sign is that of the whole. <https://sqlite.org/fileformat2.html#record_format>
  private static func turned(_ value: Int64) -> [Int64] {
    var candidates: [Int64] = []
    for width in [1, 2, 3, 4, 6, 8] as [Int64] {
      let shift = 64 - 8 * width
      guard (value << shift) >> shift == value else { continue }
      for byte in 0..<width {
        for mask in Int64(1)...255 {
          candidates.append(((value ^ (mask << (8 * byte))) << shift) >> shift)
        }
      }
    }
    return candidates
  }

  private static func put(_ value: Int64, at place: Int, in bytes: inout [UInt8]) {
    for byte in 0..<8 {
      bytes[place + byte] = UInt8(truncatingIfNeeded: value >> Int64(56 - 8 * byte))
    }
  }
}
