import Crypto
package import Documents
import Glibc
package import JSON
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
  ///   empty or `None`, for a member that does not fit ``HotelShape``, and for a member other than `_id` whose name
  ///   starts with `_`: such names are reserved and would not be stored.
  package init(_ node: JSONNode, from origin: Origin) throws {
    let body: DocumentBody
    switch origin {
    case .client:
      try Self.requireDocumented(node)
      body = try DocumentBody(node)
    case .upstream: body = try Self.fitting(node)
    }
    self.init(id: try Self.identify(node, body: body, origin: origin), body: body)
  }

  private static func requireDocumented(_ node: JSONNode) throws {
    guard node.kind == .object else { return }
    for member in node.members where member.nameStartsWithUnderscore && !member.nameEquals("_id") {
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
    var bytes = [UInt8(ascii: "{")]
    for member in node.members where !HotelShape.isMisfit(member) {
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      bytes += member.rawName
      bytes.append(UInt8(ascii: ":"))
      member.value.appendMinified(to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
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
}

extension Hotel {
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
    } catch {
      throw ServiceError(.invalidDocument, "The hotel can't be read as JSON")
    }
  }

  private static let tooLarge = ServiceError(
    .documentTooLarge, "A hotel may have at most \(BookmarkLimits.hotelBytes) bytes")
}

extension JSONNode {
  /// A hotel's members, minified, with `id` set (added at the end when missing) and without `bookmarked`.
  func hotel(named id: HotelID) -> [UInt8] {
    var bytes = [UInt8(ascii: "{")]
    var isNamed = false
    for member in members where !member.nameEquals("bookmarked") {
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      bytes += member.rawName
      bytes.append(UInt8(ascii: ":"))
      if member.nameEquals("id") {
        isNamed = true
        JSONWriter.appendString(id.text, to: &bytes)
      } else {
        member.value.appendMinified(to: &bytes)
      }
    }
    if !isNamed {
      bytes += (bytes.count > 1 ? #","id":"# : #""id":"#).utf8
      JSONWriter.appendString(id.text, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }
}

/// A hotel's id, which is also the id of its document: a legal document id that is neither a design document's nor
/// the id of the bookmark list.
package struct HotelID: ByteString {
  /// The id.
  package let text: String

  /// The prefix of the ids of drafts on lists. No hotel has such an id: a list's store has no drafts, and in a person's own
  /// store a draft would take the hotel's place.
  package static let draftPrefix = "draft:"

  /// Makes an id; nil for text that can't be the id of a hotel's document.
  package init?(_ text: String) {
    guard let id = try? DocumentID(text), !id.isDesign, id != BookmarkList.documentID,
      !text.utf8.starts(with: Self.draftPrefix.utf8)
    else { return nil }
    self.text = text
  }

  /// The id of the hotel's document.
  package var documentID: DocumentID { DocumentID(stored: text) }
}

extension HotelID {
  /// Reads an id in a list or a batch: a string as it is, a whole number N as `hotel_N`. Nil for anything else, for
  /// an empty string and for Python's `None`.
  package init?(entry node: JSONNode) {
    if let number = node.int {
      guard number >= 0 else { return nil }
      self.init("hotel_\(number)")
    } else {
      guard let text = node.string, !text.equalsBytes(of: "None") else { return nil }
      self.init(text)
    }
  }
}

/// A point on the globe, in degrees (WGS 84).
package struct GeoPoint: Sendable, Hashable {
  /// Degrees north of the equator, -90 to 90.
  package let latitude: Double
  /// Degrees east of Greenwich, -180 to 180.
  package let longitude: Double

  /// Makes a point; nil outside of those bounds.
  package init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Reads `lat,lon`, for example `51.5,-0.12`, with at most nine decimals each; nil for anything else.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard parts.count == 2, let latitude = Self.degrees(parts[0]),
      let longitude = Self.degrees(parts[1])
    else { return nil }
    self.init(latitude: latitude, longitude: longitude)
  }

  private static func degrees(_ text: Substring.UTF8View) -> Double? {
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    let unsigned = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
    let whole = unsigned.prefix(while: isDigit)
    let fraction = unsigned.dropFirst(whole.count)
    guard (1...3).contains(whole.count), whole.count == 1 || whole.first != UInt8(ascii: "0"),
      fraction.isEmpty
        || fraction.first == UInt8(ascii: ".") && (2...10).contains(fraction.count)
          && fraction.dropFirst().allSatisfy(isDigit)
    else { return nil }
    return Double(String(decoding: Array(text), as: UTF8.self))
  }

  /// A hotel's position, from `geo` with `lat` and `lon`; nil when the hotel has none.
  package init?(ofHotel hotel: JSONNode) {
    guard let geo = hotel["geo"], let latitude = geo["lat"]?.double,
      let longitude = geo["lon"]?.double
    else { return nil }
    self.init(latitude: latitude, longitude: longitude)
  }

  /// The point on a sphere of radius 1. Of two points, the one nearer to a third has the larger scalar product with
  /// it. Comparing distances this way needs no trigonometric function.
  package var vector: (x: Double, y: Double, z: Double) {
    let (north, east) = (latitude * .pi / 180, longitude * .pi / 180)
    return (cos(north) * cos(east), cos(north) * sin(east), sin(north))
  }
}
