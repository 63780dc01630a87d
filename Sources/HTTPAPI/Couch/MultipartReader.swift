/// Reads a body of type `multipart/related` in pieces. A value: bytes in, events out.
///
/// Source: RFC 2046, section 5.1.1.
struct MultipartReader {
  enum Event: Equatable {
    /// A part begins. The names of the fields are in lower case. Of fields with one name only the first counts.
    case begin([String: String])
    case bytes([UInt8])
    /// The part ends.
    case end
  }

  enum Failure: Error, Equatable {
    case malformed
  }

  private enum Stage {
    case preamble
    /// Behind a delimiter: a line end, or the two hyphens of the last one.
    case delimited
    case fields
    case content
    case epilogue
  }

  /// The most bytes of the fields of one part: 8 KiB.
  static let fieldBytes = 8 << 10

  /// `\r\n--boundary`.
  private let delimiter: [UInt8]
  private var stage = Stage.preamble
  /// The bytes that are not events yet. A slice, so that its beginning is removed without moving the rest.
  private var held: ArraySlice<UInt8>

  /// Makes a reader.
  /// - Parameter boundary: 1 to 70 bytes.
  init(boundary: String) {
    delimiter = Array("\r\n--\(boundary)".utf8)
    // The first delimiter needs no line end before it.
    held = Array("\r\n".utf8)[...]
  }

  /// Whether the last delimiter has come.
  var isComplete: Bool { stage == .epilogue }

  /// Reads the boundary of a content type; nil if it is of another type or has no valid one.
  static func boundary(of type: String) -> String? {
    let parts = type.utf8.split(separator: UInt8(ascii: ";")).map {
      String(decoding: $0, as: UTF8.self).trimmingSpaces
    }
    guard parts.first?.lowercased() == "multipart/related" else { return nil }
    for part in parts.dropFirst() where part.lowercased().hasPrefix("boundary=") {
      var text = String(part.dropFirst("boundary=".count))
      if text.utf8.count >= 2, text.utf8.first == 0x22, text.utf8.last == 0x22 {
        text = String(text.dropFirst().dropLast())
      }
      let isSound = text.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != 0x22 }
      return (1...70).contains(text.utf8.count) && isSound ? text : nil
    }
    return nil
  }

  /// Appends the next bytes, when there is no event in those before.
  mutating func append(_ bytes: [UInt8]) { held = held + bytes }

  /// The next event; nil if more bytes are needed for it, or there is none. One at a time, because a few bytes are a part.
  mutating func next() throws(Failure) -> Event? {
    while true {
      switch stage {
      case .preamble:
        guard let start = find(delimiter) else {
          held.removeFirst(max(0, held.count - delimiter.count))
          return nil
        }
        held.removeFirst(start + delimiter.count)
        stage = .delimited
      case .delimited:
        // Spaces may follow a boundary.
        held = held.drop { $0 == 0x20 || $0 == 0x09 }
        guard held.count >= 2 else { return nil }
        // The line end stays, because it may be that of an empty list of fields, too.
        if held.starts(with: "\r\n".utf8) {
          stage = .fields
        } else {
          guard held.starts(with: "--".utf8) else { throw .malformed }
          stage = .epilogue
        }
      case .fields: return try readFields()
      case .content:
        let start = find(delimiter)
        guard start != 0 else {
          held.removeFirst(delimiter.count)
          stage = .delimited
          return .end
        }
        let count = start ?? max(0, held.count - delimiter.count + 1)
        defer { held.removeFirst(count) }
        return count > 0 ? .bytes(Array(held.prefix(count))) : nil
      case .epilogue:
        held = []
        return nil
      }
    }
  }

  private mutating func readFields() throws(Failure) -> Event? {
    guard let end = find(Array("\r\n\r\n".utf8)) else {
      guard held.count <= Self.fieldBytes else { throw .malformed }
      return nil
    }
    guard end <= Self.fieldBytes else { throw .malformed }
    var fields: [String: String] = [:]
    // CouchDB writes an attachment's name as it is, line ends included. What such a name leaves behind is no field.
    for line in held.prefix(end).split(whereSeparator: { $0 == 0x0D || $0 == 0x0A }) {
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { continue }
      let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
      let value = String(decoding: line[(colon + 1)...], as: UTF8.self).trimmingSpaces
      if fields[name] == nil { fields[name] = value }
    }
    held.removeFirst(end + 4)
    stage = .content
    return .begin(fields)
  }

  /// The offset of a text in the held bytes; nil if it isn't there.
  private func find(_ text: [UInt8]) -> Int? {
    guard held.count >= text.count, let first = text.first else { return nil }
    return held.withUnsafeBufferPointer { held in
      text.withUnsafeBufferPointer { text in
        var start = 0
        while let found = held[start...(held.count - text.count)].firstIndex(of: first) {
          if held[found..<found + text.count].elementsEqual(text) { return found }
          start = found + 1
          if start > held.count - text.count { return nil }
        }
        return nil
      }
    }
  }
}
