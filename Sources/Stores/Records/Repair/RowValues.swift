package import Documents

/// A row's values as they are stored, valid or not, and the checksum that was computed when they were written.
/// Together they are enough to find out which byte has changed since.
///
/// One byte in a kilobyte can be wrong in about 260,000 ways. Each of them is tried. The one that matches the checksum
/// is what was written, except with a probability of 2⁻⁴⁶.
package struct RowValues {
  /// A value. The values are in the order in which the checksum covers them.
  package enum Value: Equatable {
    case integer(Int64)
    case optionalInteger(Int64?)
    case text([UInt8])
    case optionalText([UInt8]?)
  }

  /// The most bytes that one search hashes: 512 MiB, which take half a second. In rows of more than about a kilobyte,
  /// only single bits of the content are tried; in rows of more than 8 KiB, nothing is.
  private static let budget = 512 << 20

  package let kind: Checksum.Kind
  /// The values before the content.
  package var values: [Value]
  /// The body or the tree; empty for a row without one.
  package var content: [UInt8] = []
  package var checksum: Int64

  package init(kind: Checksum.Kind, values: [Value], content: [UInt8] = [], checksum: Int64) {
    (self.kind, self.values, self.content, self.checksum) = (kind, values, content, checksum)
  }

  /// Whether the row matches its checksum.
  package var isSound: Bool { Checksum.value(of: written.bytes, over: content) == checksum }

  /// The row as it was written, if one byte of it is wrong; nil when more bytes are wrong or the row is too long to
  /// search.
  /// - Parameter isKnown: whether only the content can be wrong.
  package func repaired(onlyContent isKnown: Bool = false) -> RowValues? {
    if !isKnown, let row = withChecksumRepaired ?? withValuesRepaired { return row }
    return withContentRepaired
  }

  /// The bytes before the content, and the offset of each value in them.
  private var written: (bytes: [UInt8], offsets: [Int]) {
    var sum = Checksum(kind)
    var offsets: [Int] = []
    for value in values {
      switch value {
      case .integer(let number):
        offsets.append(sum.count)
        sum.append(number)
      case .optionalInteger(let number):
        offsets.append(sum.count + 1)
        sum.append(number)
      case .text(let bytes):
        offsets.append(sum.count + 8)
        sum.append(bytes: bytes)
      case .optionalText(let bytes):
        offsets.append(sum.count + 9)
        sum.append(optionalBytes: bytes)
      }
    }
    return (sum.bytes, offsets)
  }

  /// The row with a corrected checksum, if the wrong byte is in the checksum.
  private var withChecksumRepaired: RowValues? {
    let right = Checksum.value(of: written.bytes, over: content)
    let difference = UInt64(bitPattern: right ^ checksum)
    guard (0..<8).contains(where: { difference & ~(0xFF << (UInt64($0) * 8)) == 0 }) else {
      return nil
    }
    var row = self
    row.checksum = right
    return row
  }

  private var withValuesRepaired: RowValues? {
    var (bytes, offsets) = written
    let length = bytes.count + content.count
    // An integer can be stored in six widths, which have 24 bytes together. Each byte has 255 other values.
    let trials = values.reduce(0) { sum, value in
      switch value {
      case .integer, .optionalInteger: sum + 24 * 255
      case .text(let text): sum + 255 * text.count
      case .optionalText(let text): sum + 255 * (text?.count ?? 0)
      }
    }
    guard Self.isAffordable(trials, of: length) else { return nil }
    for (index, value) in values.enumerated() {
      let start = offsets[index]
      switch value {
      case .integer(let number), .optionalInteger(.some(let number)):
        for candidate in Self.variants(number) {
          Self.put(candidate, at: start, in: &bytes)
          guard Checksum.value(of: bytes, over: content) == checksum else { continue }
          var row = self
          if case .integer = value {
            row.values[index] = .integer(candidate)
          } else {
            row.values[index] = .optionalInteger(candidate)
          }
          return row
        }
        Self.put(number, at: start, in: &bytes)
      case .text(var text), .optionalText(.some(var text)):
        for offset in text.indices {
          for mask in UInt8(1)...255 {
            bytes[start + offset] = text[offset] ^ mask
            guard Checksum.value(of: bytes, over: content) == checksum else { continue }
            text[offset] ^= mask
            var row = self
            if case .text = value {
              row.values[index] = .text(text)
            } else {
              row.values[index] = .optionalText(text)
            }
            return row
          }
          bytes[start + offset] = text[offset]
        }
      case .optionalInteger(nil), .optionalText(nil): break
      }
    }
    return nil
  }

  private var withContentRepaired: RowValues? {
    let bytes = written.bytes
    let bits = (0..<8).map { UInt8(1) << UInt8($0) }
    let others = (UInt8(1)...255).filter { $0.nonzeroBitCount > 1 }
    var content = content
    for masks in [bits, others] {
      let trials = masks.count * content.count
      guard Self.isAffordable(trials, of: bytes.count + content.count) else { return nil }
      for index in content.indices {
        let found = content[index]
        for mask in masks {
          content[index] = found ^ mask
          guard Checksum.value(of: bytes, over: content) == checksum else { continue }
          var row = self
          row.content = content
          return row
        }
        content[index] = found
      }
    }
    return nil
  }

  private static func isAffordable(_ trials: Int, of length: Int) -> Bool {
    let (work, overflows) = trials.multipliedReportingOverflow(by: length)
    return !overflows && work <= budget
  }

  /// The values that an integer may have had before one of its bytes changed. SQLite stores an integer in 1, 2, 3, 4, 6
  /// or 8 bytes; the first byte has the sign. <https://sqlite.org/fileformat2.html#record_format>
  private static func variants(_ value: Int64) -> [Int64] {
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

  private static func put(_ value: Int64, at offset: Int, in bytes: inout [UInt8]) {
    for byte in 0..<8 {
      bytes[offset + byte] = UInt8(truncatingIfNeeded: value >> Int64(56 - 8 * byte))
    }
  }

  package init(_ row: StoredDocument) {
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

  /// Creates the body or tree of a document's winner.
  package init(_ content: RowValues, of row: StoredDocument, sum: Int64) {
    self.init(
      kind: content.kind,
      values: [
        .text(Array(row.id.text.utf8)), .integer(Int64(row.revision.generation)),
        .text(Array(row.revision.digest.text.utf8)),
      ], content: content.content, checksum: sum)
  }

  /// How many values the columns of a document are.
  private static let columns = 11
  /// The values after the columns of a document: what an engine's checksum covers besides.
  var context: ArraySlice<Value> { values.dropFirst(Self.columns) }

  /// The document with these columns; nil when a value is invalid, for example a text that is not UTF-8.
  package var document: StoredDocument? {
    guard kind == .head, values.count >= Self.columns, let id = string(1), let digest = string(4),
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

  /// The revision of a body that is not the winner's; nil when the row is not such a body or its text is not UTF-8.
  package var revision: RevisionID? {
    guard kind == .body, values.count == 3, let digest = string(2) else { return nil }
    return RevisionID(generation: Int(clamping: integer(1)), digest: digest)
  }

  /// A document's revision for display. Invalid bytes are replaced.
  package var revisionText: String { "\(integer(3))-\(text(4))" }

  /// A text for display. Invalid bytes are replaced.
  package func text(_ index: Int) -> String { String(decoding: bytes(index), as: UTF8.self) }

  private func string(_ index: Int) -> String? { String(validating: bytes(index), as: UTF8.self) }

  /// A text's bytes; empty for null and for an integer.
  package func bytes(_ index: Int) -> [UInt8] {
    switch values[index] {
    case .text(let bytes), .optionalText(.some(let bytes)): bytes
    case .integer, .optionalInteger, .optionalText(nil): []
    }
  }

  /// An integer; 0 for null and for a text.
  package func integer(_ index: Int) -> Int64 {
    switch values[index] {
    case .integer(let number), .optionalInteger(.some(let number)): number
    case .text, .optionalText, .optionalInteger(nil): 0
    }
  }
}
