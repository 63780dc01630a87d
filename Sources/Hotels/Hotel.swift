import Crypto
package import Documents

/// A hotel as somebody described it: its id, and its JSON text untouched.
package struct Hotel: Sendable {
  /// The hotel's id as this service writes it; see ``Hotel/identify(_:)``.
  package let id: HotelID
  /// The hotel's own object, minified, with all fields as they came (unknown ones too, and whatever `id` it
  /// had). Of a catalogue's and an upstream's, fields whose names start with `_` are left out.
  package let body: DocumentBody

  /// A hotel whose id is known.
  package init(id: HotelID, body: DocumentBody) {
    self.id = id
    self.body = body
  }

  /// Who described the hotel.
  package enum Origin: Sendable {
    /// A person's app: an id that is a string is kept as it is.
    case client
    /// A catalogue or an upstream: spellings of one id are brought together by ``Hotel/canonical(_:)``.
    case upstream
  }

  /// Reads a hotel's object and finds its id: `_id`, else `id`, else `docid`; a whole number N is `hotel_N`; a
  /// hotel without any has `hotel_` and 16 hex digits of the SHA-256 of its canonical body, so that the same
  /// facts make the same id.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for anything but an object, an id that is
  ///   neither text nor number, or one that is no legal document id; of a person's app also for a member whose
  ///   name starts with `_`, but for `_id`: such names are the store's own and would not be kept.
  package init(_ node: JSONNode, from origin: Origin) throws(DocumentError) {
    if origin == .client { try Self.requireNoReserved(node) }
    let body = try DocumentBody(node)
    self.init(id: try Self.identify(node, body: body, origin: origin), body: body)
  }

  private static func requireNoReserved(_ node: JSONNode) throws(DocumentError) {
    guard node.kind == .object else { return }
    for member in node.members where member.nameStartsWithUnderscore && !member.nameEquals("_id") {
      throw DocumentError(
        .invalidDocument, "A hotel must not have a reserved member: \(member.name.prefix(64))")
    }
  }

  private static func identify(
    _ node: JSONNode, body: DocumentBody, origin: Origin
  ) throws(DocumentError) -> HotelID {
    for name in ["_id", "id", "docid"] {
      guard let value = node[name], !value.isNull else { continue }
      if let number = value.int, number >= 0 { return try checked("hotel_\(number)") }
      guard let text = value.string else {
        throw DocumentError(
          .invalidDocument, "A hotel's \(name) must be a string or a whole number")
      }
      // An empty id, and Python's str(None), stand for no id at all.
      if text.isEmpty || text.equalsBytes(of: "None") { continue }
      return try checked(origin == .upstream ? canonical(text) : text)
    }
    return try checked("hotel_" + Hex.string(Array(SHA256.hash(data: body.digest)).prefix(8)))
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

  private static func checked(_ text: String) throws(DocumentError) -> HotelID {
    guard let id = HotelID(text) else {
      throw DocumentError(
        .invalidDocument,
        "A hotel's id must have 1 to \(DocumentID.maximumBytes) bytes and start with no underscore")
    }
    return id
  }
}
