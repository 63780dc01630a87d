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
  package let properties: BLIPProperties
  package let body: [UInt8]
  /// Whether the peer has sent more than is kept, so that the body is missing.
  package let isTooLong: Bool

  package init(
    _ kind: Kind, _ properties: BLIPProperties = BLIPProperties(), body: [UInt8] = [],
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
    let properties = try BLIPProperties(parsing: rest.prefix(Int(length)))
    self.init(kind, properties, body: Array(rest.dropFirst(Int(length))), isNoReply: isNoReply)
  }

  /// The message as it is divided into frames.
  var bytes: [UInt8] {
    let properties = properties.bytes
    var bytes: [UInt8] = []
    bytes.reserveCapacity(properties.count + body.count + 3)
    Varint.append(UInt64(properties.count), to: &bytes)
    bytes += properties
    bytes += body
    return bytes
  }
}

/// The properties of a message, in order. Names and values have no NUL.
package struct BLIPProperties: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  private var names: [String] = []
  private var values: [String] = []

  package init(dictionaryLiteral elements: (String, String)...) {
    for (name, value) in elements { self[name] = value }
  }

  /// Reads `name NUL value NUL …`.
  /// - Throws: `malformed` for invalid UTF-8, and for a name without a value.
  init(parsing bytes: ArraySlice<UInt8>) throws(BLIPError) {
    guard let last = bytes.last else { return }
    guard last == 0 else { throw .malformed("The last property has no end") }
    var texts: [String] = []
    for part in bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false) {
      guard let text = String(validating: part, as: UTF8.self) else {
        throw .malformed("A property is no UTF-8")
      }
      texts.append(text)
    }
    guard texts.count.isMultiple(of: 2) else { throw .malformed("A property has no value") }
    for index in stride(from: 0, to: texts.count, by: 2) {
      names.append(texts[index])
      values.append(texts[index + 1])
    }
  }

  /// The names with their values, in order.
  package var all: some Sequence<(String, String)> { zip(names, values) }

  /// The value of a name; of several, the first. A value with NUL is not set.
  package subscript(name: String) -> String? {
    get { names.firstIndex { $0.utf8.elementsEqual(name.utf8) }.map { values[$0] } }
    set {
      let index = names.firstIndex { $0.utf8.elementsEqual(name.utf8) }
      guard let newValue, !newValue.utf8.contains(0) else {
        if let index {
          names.remove(at: index)
          values.remove(at: index)
        }
        return
      }
      if let index {
        values[index] = newValue
      } else {
        names.append(name)
        values.append(newValue)
      }
    }
  }

  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for (name, value) in zip(names, values) {
      bytes += name.utf8
      bytes.append(0)
      bytes += value.utf8
      bytes.append(0)
    }
    return bytes
  }
}
