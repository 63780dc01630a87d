package import Documents

extension BookmarkList {
  /// Reads the list in a stored body: its `hotels`, text or numbers as ``HotelID/init(entry:)`` reads them.
  /// Whatever else stands there, empty ids and repetitions are passed over; `hotels` that is no array is
  /// an empty list.
  /// - Throws: ``JSONError`` for a body that is no JSON.
  package init(parsing body: [UInt8]) throws(JSONError) {
    let hotels = try ParsedJSON(body, limits: .request).root["hotels"]
    var list = BookmarkList()
    if let hotels { list.append(hotels.elements.lazy.compactMap { HotelID(entry: $0) }) }
    self = list
  }

  /// The list as a document's body. Members of `former` beside `type` and `hotels` stay as they are, in
  /// their places.
  /// - Parameter former: the body that this one replaces; nil for a new list.
  /// - Throws: ``DocumentError`` with code `tooLarge`, or `invalidJSON` when `former` is no JSON.
  package func body(replacing former: [UInt8]? = nil) throws(DocumentError) -> DocumentBody {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    var missing = ["type", "hotels"]
    if let former {
      let parsed: ParsedJSON
      do { parsed = try ParsedJSON(former, limits: .request) } catch { throw DocumentError(error) }
      for member in parsed.root.members {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        if let name = missing.first(where: { member.nameEquals($0) }) {
          append(name, to: &bytes)
          missing.removeAll { member.nameEquals($0) }
        } else {
          bytes += member.rawName
          bytes.append(UInt8(ascii: ":"))
          member.value.appendMinified(to: &bytes)
        }
      }
    }
    for name in missing {
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      append(name, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    return try DocumentBody(parsing: bytes, limits: .request)
  }

  /// Whether the other members of a list's body leave a list room in a document.
  static func hasRoom(in former: [UInt8]) -> Bool {
    guard let empty = try? BookmarkList().body(replacing: former) else { return false }
    return (try? DocumentBody(parsing: empty.bytes, limits: .document)) != nil
  }

  /// The first ids of the list: as many as make a body of at most so many bytes.
  /// - Parameter former: the body that this one replaces; nil for a new list.
  func prefix(fitting bytes: Int, replacing former: [UInt8]?) -> BookmarkList {
    var length = (try? BookmarkList().body(replacing: former).bytes.count) ?? 0
    var count = 0
    var text: [UInt8] = []
    for id in hotels {
      text.removeAll(keepingCapacity: true)
      JSONWriter.appendString(id.text, to: &text)
      length += text.count + (count > 0 ? 1 : 0)
      guard length <= bytes else { return BookmarkList(Array(hotels.prefix(count))) }
      count += 1
    }
    return self
  }

  private func append(_ name: String, to bytes: inout [UInt8]) {
    guard name.equalsBytes(of: "hotels") else {
      bytes += #""type":"\#(Self.type)""#.utf8
      return
    }
    bytes += #""hotels":["#.utf8
    for (place, id) in hotels.enumerated() {
      if place > 0 { bytes.append(UInt8(ascii: ",")) }
      JSONWriter.appendString(id.text, to: &bytes)
    }
    bytes.append(UInt8(ascii: "]"))
  }
}
