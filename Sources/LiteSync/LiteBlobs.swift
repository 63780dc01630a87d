import Documents
import Scheduling

/// The blobs of a document: the objects with `"@type":"blob"` and a digest, wherever they are in it. `_attachments` are none.
struct LiteBlobs {
  /// A blob.
  struct Blob {
    let node: JSONNode
    let digest: LiteDigest
    fileprivate let place: Int?
  }

  static let tooMany = DocumentError(
    .invalidAttachment, "A document has at most \(IncomingAttachment.most) attachments")

  /// What every document with a blob contains.
  private static let mark = Array("@type".utf8)
  /// The objects and arrays that are looked at before other work may run.
  private static let nodesAtOnce = 256
  /// The longest pointer in the name of an attachment.
  private static let mostBytes = AttachmentName.maximumBytes - AttachmentName.blobPrefix.utf8.count

  /// Where an object or an array is: the last part of its JSON pointer, and the place of what contains it. A whole pointer
  /// for each of them would take their number times the length of a name.
  private struct Place {
    let parent: Int?
    let part: String
  }

  /// In no particular order.
  private(set) var all: [Blob] = []
  private var places: [Place] = []

  /// Whether a text may have a blob.
  static func mayBe(in text: [UInt8]) -> Bool { text.offset(of: mark) != nil }

  /// Finds the blobs of a document, and gives way meanwhile.
  /// - Parameter text: the text of `root`.
  /// - Parameter limit: the most blobs.
  /// - Throws: ``DocumentError`` for more blobs; `ended`.
  init(in root: JSONNode, of text: [UInt8], atMost limit: Int = .max) async throws {
    // Most documents have no blob, and need no second look.
    guard Self.mayBe(in: text) else { return }
    var rest: [(node: JSONNode, place: Int?)] = [(root, nil)]
    var seen = 0
    while let (node, place) = rest.popLast() {
      seen += 1
      if seen.isMultiple(of: Self.nodesAtOnce) { try await Slice.giveWay() }
      if place != nil, node["@type"]?.stringEquals("blob") == true {
        if let digest = node["digest"]?.string.flatMap({ LiteDigest($0) }) {
          all.append(Blob(node: node, digest: digest, place: place))
        }
        guard all.count <= limit else { throw Self.tooMany }
        continue
      }
      for member in node.members
      where member.value.isContainer && !(place == nil && member.nameStartsWithUnderscore) {
        places.append(Place(parent: place, part: Self.escaped(member.name)))
        rest.append((member.value, places.count - 1))
        if places.count.isMultiple(of: Self.nodesAtOnce) { try await Slice.giveWay() }
      }
      for (index, element) in node.elements.enumerated() where element.isContainer {
        places.append(Place(parent: place, part: String(index)))
        rest.append((element, places.count - 1))
        if places.count.isMultiple(of: Self.nodesAtOnce) { try await Slice.giveWay() }
      }
    }
  }

  /// The JSON pointer of a blob; nil if it is too long for the name of an attachment.
  func pointer(to blob: Blob) -> String? {
    var (pointer, next) = ("", blob.place)
    while let place = next {
      // A part may be nearly as long as the document, and the same one for all of its blobs.
      let part = places[place].part
      guard part.utf8.count + pointer.utf8.count < Self.mostBytes else { return nil }
      pointer = "/" + part + pointer
      next = places[place].parent
    }
    return pointer
  }

  /// The name of the attachment by which LiteCore finds a blob; nil for none. It does not undo the escapes of a pointer.
  /// Source: LiteCore, `Path::evalJSONPointer`.
  func nameOnDevice(of blob: Blob) -> AttachmentName? {
    let plain = pointer(to: blob).flatMap { $0.utf8.contains(UInt8(ascii: "~")) ? nil : $0 }
    return plain.map { AttachmentName(stored: AttachmentName.blobPrefix + $0) }
  }

  /// A name as a part of a JSON pointer (RFC 6901, section 3).
  private static func escaped(_ name: String) -> String {
    var bytes: [UInt8] = []
    for byte in name.utf8 {
      switch byte {
      case UInt8(ascii: "~"): bytes += Array("~0".utf8)
      case UInt8(ascii: "/"): bytes += Array("~1".utf8)
      // No name of an attachment has NUL.
      case 0: bytes += Array("~".utf8)
      default: bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension JSONNode {
  fileprivate var isContainer: Bool { kind == .object || kind == .array }
}
