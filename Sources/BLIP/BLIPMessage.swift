/// A message: a request, its answer, or an error instead of the answer.
package struct BLIPMessage: Sendable, Equatable {
  /// What a message is. The values are those of a frame's flags.
  package enum Kind: UInt8, Sendable {
    case request = 0
    case answer = 1
    case error = 2
  }

  package let kind: Kind
  /// Whether a request wants no answer.
  package let isNoReply: Bool
  /// The values of names. One with NUL is not sent.
  package let properties: [String: String]
  package let body: [UInt8]
  /// Whether the peer has sent more than is kept, so that the body is missing.
  package let isTooLong: Bool

  package init(
    _ kind: Kind, _ properties: [String: String] = [:], body: [UInt8] = [],
    isNoReply: Bool = false, isTooLong: Bool = false
  ) {
    (self.kind, self.properties, self.body) = (kind, properties, body)
    (self.isNoReply, self.isTooLong) = (isNoReply, isTooLong)
  }

  /// Reads a message whose frames are complete.
  /// - Throws: `malformed`, `tooLarge`.
  init(_ kind: Kind, parsing bytes: [UInt8], isNoReply: Bool) throws(BLIPError) {
    var rest = bytes[...]
    let length = try Varint.read(&rest)
    guard length <= BLIPLimits.propertyBytes else { throw .tooLarge("The properties are too long") }
    guard length <= rest.count else { throw .malformed("The properties are incomplete") }
    let properties = try Self.properties(parsing: rest.prefix(Int(length)))
    self.init(kind, properties, body: Array(rest.dropFirst(Int(length))), isNoReply: isNoReply)
  }

  /// Reads `name NUL value NUL …`. Of several values the last one counts.
  /// - Throws: `malformed` for invalid UTF-8, and for a name without a value.
  static func properties(
    parsing bytes: ArraySlice<UInt8>
  ) throws(BLIPError) -> [String: String] {
    guard let last = bytes.last else { return [:] }
    guard last == 0 else { throw .malformed("The last property has no end") }
    var (properties, name): ([String: String], String?) = ([:], nil)
    for part in bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false) {
      guard let text = String(validating: part, as: UTF8.self) else {
        throw .malformed("A property is no UTF-8")
      }
      if let known = name { properties[known] = text }
      name = name == nil ? text : nil
    }
    guard name == nil else { throw .malformed("A property has no value") }
    return properties
  }

  /// The message as it is divided into frames.
  var bytes: [UInt8] {
    var properties: [UInt8] = []
    for (name, value) in self.properties where !value.utf8.contains(0) {
      properties += Array(name.utf8) + [0] + value.utf8 + [0]
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(properties.count + body.count + 3)
    Varint.append(UInt64(properties.count), to: &bytes)
    bytes += properties
    bytes += body
    return bytes
  }
}
