import Crypto
package import Documents
import Glibc
import Stores

/// A hotel as a client or an upstream described it: its id and its JSON text, unchanged.
package struct Hotel: Sendable {
  /// The hotel's id as this service writes it; see ``Hotel/identify(_:)``.
  package let id: HotelID
  /// The hotel's object, minified, with all members as they came, including unknown ones and whatever `id` it had.
  /// In a hotel from an upstream, members that do not fit ``HotelShape`` are left out, and so are members whose
  /// names start with `_`.
  package let body: DocumentBody

  /// A hotel whose id is known.
  package init(id: HotelID, body: DocumentBody) {
    self.id = id
    self.body = body
  }

  /// Who described the hotel.
  package enum Origin: Sendable {
    /// A client. A string id is kept as it is.
    case client
    /// A catalogue or an upstream. ``Hotel/canonical(_:)`` unifies the spellings of an id.
    case upstream
  }

  /// Reads a hotel's object and finds its id: `_id`, else `id`, else `docid`. A whole number N becomes `hotel_N`. A
  /// hotel without an id gets `hotel_` and the first 16 hexadecimal digits of the SHA-256 of its canonical body, so
  /// that the same facts make the same id.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object, an id that is neither a
  ///   string nor a whole number, and an illegal document id. For a client's hotel also for an id that is null,
  ///   empty or `None`, for a member that does not fit ``HotelShape``, and for a member other than `_id` and
  ///   `_attachments` whose name starts with `_`: such names are reserved and would not be stored.
  package init(_ node: JSONNode, from origin: Origin) throws {
    let body: DocumentBody
    switch origin {
    case .client:
      try Self.requireDocumented(node)
      body = try DocumentBody(node, attachments: false)
    case .upstream: body = try Self.fitting(node)
    }
    self.init(id: try Self.identify(node, body: body, origin: origin), body: body)
  }

  /// Whether a member comes from an answer and may be sent back: the id, and the names of attachments.
  private static func isAnswered(_ member: JSONMember) -> Bool {
    member.nameEquals("_id")
      || member.nameEquals("_attachments") && AttachmentStub.all(in: member.value) != nil
  }

  private static func requireDocumented(_ node: JSONNode) throws {
    guard node.kind == .object else { return }
    for member in node.members where member.nameStartsWithUnderscore && !isAnswered(member) {
      throw DocumentError(
        .invalidDocument, "A hotel must not have a reserved member: \(member.name.prefix(64))")
    }
    for name in HotelShape.idNames {
      guard let value = node[name], value.isNull || isNone(value) else { continue }
      throw DocumentError(
        .invalidDocument,
        "A hotel's \(name) must not be null, empty or None; leave it out or say the id")
    }
    if let fault = HotelShape.fault(in: node) { throw DocumentError(.invalidDocument, fault) }
  }

  /// The body without members that do not fit ``HotelShape``.
  private static func fitting(_ node: JSONNode) throws -> DocumentBody {
    guard node.members.contains(where: HotelShape.isMisfit) else { return try DocumentBody(node) }
    let bytes = JSONWriter.object { writer in
      for member in node.members where !HotelShape.isMisfit(member) { writer.member(member) }
    }
    return try DocumentBody(parsing: bytes, limits: .request)
  }

  /// An empty string and Python's `str(None)` count as no id.
  private static func isNone(_ value: JSONNode) -> Bool {
    value.stringEquals("") || value.stringEquals("None")
  }

  private static func identify(
    _ node: JSONNode, body: DocumentBody, origin: Origin
  ) throws -> HotelID {
    for name in HotelShape.idNames {
      guard let value = node[name], !value.isNull, !isNone(value) else { continue }
      if let number = value.int, number >= 0 { return try checked("hotel_\(number)") }
      guard let text = value.string else {
        throw DocumentError(
          .invalidDocument, "A hotel's \(name) must be a string or a whole number")
      }
      return try checked(origin == .upstream ? canonical(text) : text)
    }
    return try checked("hotel_" + Hex.string(Array(SHA256.hash(data: body.digest)).prefix(8)))
  }

  /// The id of a hotel that has none, from facts that stay the same: its name and its place. Case does not matter.
  package static func id(ofFacts facts: [String]) -> String {
    let text = JSONValue.array(facts.map { .string($0.lowercased()) }).bytes
    return "hotel_" + Hex.string(Array(SHA256.hash(data: text)).prefix(8))
  }

  /// `hotelhotel_N` and a bare decimal number become `hotel_N`; any other id stays as it is.
  package static func canonical(_ id: String) -> String {
    let bytes = id.utf8
    if bytes.starts(with: "hotelhotel_".utf8) { return String(Substring(bytes.dropFirst(5))) }
    if !bytes.isEmpty, bytes.count <= 18, bytes.allSatisfy({ (0x30...0x39).contains($0) }) {
      return "hotel_" + id
    }
    return id
  }

  private static func checked(_ text: String) throws -> HotelID {
    guard let id = HotelID(text) else {
      throw DocumentError(
        .invalidDocument,
        "A hotel's id must have 1 to \(DocumentID.maximumBytes) bytes and start with no underscore")
    }
    return id
  }

  /// The `type` of a hotel's document.
  package static let type = "hotel"

  /// The body to store: the hotel's bytes with its `id` and `"type":"hotel"`. A missing one is added at the end.
  /// `bookmarked`, which search results contain, is left out because it is not a fact.
  /// - Throws: `invalidDocument` for another `type`: the observer and the mirror depend on the type, and replacing
  ///   it would lose what the client wrote. `tooLarge` for more than ``BookmarkLimits/hotelBytes``.
  func stored() throws -> DocumentBody {
    guard body.bytes.count <= BookmarkLimits.hotelBytes else { throw Self.tooLarge }
    do {
      let root = try ParsedJSON(body.bytes, limits: .document).root
      guard root["type"]?.stringEquals(Self.type) ?? true else {
        throw ServiceError(.invalidDocument, #"A hotel's type must be "hotel", or left out"#)
      }
      let isNamed = root["id"]?.stringEquals(id.text) == true
      if isNamed, root["type"] != nil, root["bookmarked"] == nil { return body }
      var bytes = root.hotel(named: id)
      if root["type"] == nil {
        bytes.removeLast()
        bytes += #","type":"hotel"}"#.utf8
      }
      guard bytes.count <= BookmarkLimits.hotelBytes else { throw Self.tooLarge }
      return try DocumentBody(parsing: bytes)
    } catch let error as ServiceError {
      throw error
    } catch let error as DocumentError {
      throw ServiceError(.invalidDocument, error.reason)
    } catch { throw ServiceError(.invalidDocument, "The hotel can't be read as JSON") }
  }

  private static let tooLarge = ServiceError(
    .documentTooLarge, "A hotel may have at most \(BookmarkLimits.hotelBytes) bytes")
}

extension JSONNode {
  /// A hotel's members, minified, with `id` set (added at the end when missing) and without `bookmarked`.
  func hotel(named id: HotelID) -> [UInt8] {
    JSONWriter.object { writer in
      var isNamed = false
      for member in members where !member.nameEquals("bookmarked") {
        if member.nameEquals("id") {
          isNamed = true
          writer.member("id", id.text)
        } else {
          writer.member(member)
        }
      }
      if !isNamed { writer.member("id", id.text) }
    }
  }
}
