/// RFC 6901 pointers into a text that is still being read.
enum JSONPointer {
  /// The longest pointer that is made, in bytes.
  static let maximumBytes = 1024

  /// The pointer to a member of the object that is being read.
  ///
  /// - Parameters:
  ///   - name: The index of the member's name on the tape.
  ///   - object: The index of the object, still open.
  /// - Returns: `nil` if the pointer has more than ``maximumBytes``.
  static func text(
    ofMember name: Int, of object: Int, tape: JSONTape, text: Span<UInt8>
  ) -> String? {
    var pointer: [UInt8] = []
    var container = 0
    while container < object, pointer.count <= maximumBytes {
      var child = container + 2
      var position = 0
      let isObject = tape.token(container) == .object
      if isObject { child += 1 }
      while tape.next(child) != 0, tape.next(child) <= object {
        child = tape.next(child) + (isObject ? 1 : 0)
        position += 1
      }
      if isObject {
        append(child - 1, tape, text, to: &pointer)
      } else {
        pointer.append(0x2F)
        pointer.append(contentsOf: String(position).utf8)
      }
      container = child
    }
    append(name, tape, text, to: &pointer)
    return pointer.count > maximumBytes ? nil : String(decoding: pointer, as: UTF8.self)
  }

  private static func append(
    _ name: Int, _ tape: JSONTape, _ text: Span<UInt8>, to pointer: inout [UInt8]
  ) {
    var characters: [UInt8] = []
    JSONEscape.appendResolved(
      tape.start(name) + 1..<tape.end(name) - 1, of: text, to: &characters)
    pointer.append(0x2F)
    for byte in characters {
      switch byte {
      case 0x7E: pointer.append(contentsOf: [0x7E, 0x30])
      case 0x2F: pointer.append(contentsOf: [0x7E, 0x31])
      default: pointer.append(byte)
      }
    }
  }
}
