import Documents
import JSON
import Scheduling
import Stores

/// An attachment that a client's revision names by its SHA-1: a blob, which is somewhere in the body, or a member of
/// `_attachments`.
///
/// A blob gets the attachment `blob_` and its JSON pointer, as LiteCore itself writes it for a server that knows no blobs. So
/// other clients see it, and its bytes are kept as long as a revision has it.
/// Source: LiteCore, `DBAccess::encodeRevWithLegacyAttachments`.
struct LiteAttachment: Sendable {
  let name: AttachmentName
  let digest: LiteDigest
  let contentType: String?
  /// How many bytes the client says that it has; nil if it doesn't say so.
  let length: Int?
  /// `revpos`; nil when it is not given.
  let generation: Int?

  /// The attachments of a document, each name once.
  /// - Parameter text: the text of `root`.
  /// - Throws: ``DocumentError`` for too many, and for a name or a type that is not allowed; `ended`.
  static func all(
    in document: IncomingDocument, _ root: JSONNode, _ text: [UInt8]
  ) async throws -> [LiteAttachment] {
    var found: [LiteAttachment] = []
    for attachment in document.attachments {
      guard case .stub = attachment.content, let text = attachment.digest,
        let digest = LiteDigest(text)
      else { continue }
      found.append(
        LiteAttachment(
          name: attachment.name, digest: digest, contentType: attachment.contentType,
          length: attachment.length, generation: attachment.generation))
    }
    // Most documents have no blob, and need no second look.
    guard text.firstRange(of: blobMark) != nil else { return found }
    var names = Set(document.attachments.map(\.name))
    for blob in try await blobs(in: root) where names.insert(blob.name).inserted {
      guard names.count <= IncomingAttachment.most else { throw tooMany }
      found.append(blob)
    }
    return found
  }

  private static let tooMany = DocumentError(
    .invalidAttachment, "A document has at most \(IncomingAttachment.most) attachments")

  /// What every document with a blob contains.
  private static let blobMark = Array("@type".utf8)
  /// The objects and arrays that are looked at before other work may run.
  private static let nodesAtOnce = 256

  /// Where an object or an array is: the last part of its JSON pointer, and the place of what contains it. A whole pointer
  /// for each of them would take their number times the length of a name.
  private struct Place {
    let parent: Int?
    let part: String
  }

  /// The blobs of a document. `_attachments` are none.
  private static func blobs(in root: JSONNode) async throws -> [LiteAttachment] {
    var found: [LiteAttachment] = []
    var places: [Place] = []
    var rest: [(node: JSONNode, place: Int?)] = [(root, nil)]
    var seen = 0
    while let (node, place) = rest.popLast() {
      seen += 1
      if seen.isMultiple(of: nodesAtOnce) { try await Slice.giveWay() }
      if place != nil, node["@type"]?.stringEquals("blob") == true {
        if let blob = try blob(node, at: place, among: places) { found.append(blob) }
        guard found.count <= IncomingAttachment.most else { throw tooMany }
        continue
      }
      for member in node.members
      where member.value.isContainer && !(place == nil && member.nameStartsWithUnderscore) {
        places.append(Place(parent: place, part: escaped(member.name)))
        rest.append((member.value, places.count - 1))
        if places.count.isMultiple(of: nodesAtOnce) { try await Slice.giveWay() }
      }
      for (index, element) in node.elements.enumerated() where element.isContainer {
        places.append(Place(parent: place, part: String(index)))
        rest.append((element, places.count - 1))
        if places.count.isMultiple(of: nodesAtOnce) { try await Slice.giveWay() }
      }
    }
    return found
  }

  private static func blob(
    _ node: JSONNode, at place: Int?, among places: [Place]
  ) throws -> LiteAttachment? {
    guard let digest = node["digest"]?.string.flatMap({ LiteDigest($0) }) else { return nil }
    let type = node["content_type"]?.string
    if let type { try IncomingAttachment.check(type: type) }
    return LiteAttachment(
      name: try AttachmentName("blob_" + (pointer(to: place, among: places) ?? digest.text)),
      digest: digest, contentType: type, length: node["length"]?.int, generation: nil)
  }

  /// A JSON pointer; nil if it is too long for the name of an attachment.
  private static func pointer(to place: Int?, among places: [Place]) -> String? {
    var (pointer, next) = ("", place)
    while let place = next {
      pointer = "/" + places[place].part + pointer
      guard pointer.utf8.count <= AttachmentName.maximumBytes - "blob_".utf8.count else {
        return nil
      }
      next = places[place].parent
    }
    return pointer
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

/// The digest by which Couchbase Lite names bytes: `sha1-` and the SHA-1 in Base64.
struct LiteDigest: Sendable, Hashable {
  private static let prefix = "sha1-"

  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Reads a digest; nil for any other text.
  init?(_ text: String) {
    var decoder = Base64.Decoder()
    guard text.utf8.count == 33, text.utf8.starts(with: Self.prefix.utf8),
      let first = decoder.decode(text.utf8.dropFirst(Self.prefix.utf8.count)),
      let last = decoder.finish()
    else { return nil }
    bytes = first + last
    guard bytes.count == 20 else { return nil }
  }

  var text: String { Self.prefix + Base64.string(bytes) }
}

extension StoreView {
  /// A stored body as Couchbase Lite reads it: its attachments have SHA-1. One whose bytes are not here keeps its MD5, which
  /// the client leaves alone.
  func liteBody(_ body: [UInt8], of id: DocumentID, _ revision: RevisionID) throws -> [UInt8] {
    guard let (stubs, range) = DocumentBody.attachments(in: body) else { return body }
    let keys = try attachmentKeys(of: id, revision)
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("_attachments")
    writer.beginObject()
    for stub in stubs {
      let facts = try keys[stub.name].flatMap { try attachment($0) }
      writer.name(stub.name.text)
      writer.beginObject()
      writer.member("content_type", stub.contentType)
      writer.member("revpos", stub.generation)
      writer.member("digest", facts.map { LiteDigest($0.sha1).text } ?? stub.digest)
      writer.member("length", Int(clamping: stub.length))
      writer.member("stub", true)
      writer.endObject()
    }
    writer.endObject()
    writer.members(of: DocumentBody.rest(of: body, behind: range))
    writer.endObject()
    return writer.bytes
  }
}
