import Documents
import Hotels
import JSON
import Stores

/// A hotel in the form of `/v1`: its own members unchanged, and `id` and `bookmarked` from this service.
enum HotelJSON {
  static func bytes(_ hotel: Hotel, isBookmarked: Bool) throws -> [UInt8] {
    try bytes(id: hotel.id, body: hotel.body.bytes, isBookmarked: isBookmarked)
  }

  static func bytes(
    id: HotelID, body: [UInt8], isBookmarked: Bool
  ) throws -> [UInt8] {
    guard let outline = JSONOutline(body, in: body.indices), outline.isObject else {
      throw ServiceError(.integrity, "A hotel can't be read")
    }
    var writer = JSONWriter(reserving: body.count + 64)
    writer.beginObject()
    writer.member("id", id.text)
    for part in outline.parts {
      guard let name = part.name else { continue }
      let member = body[name.lowerBound..<part.value.upperBound]
      guard !body[name].contains(UInt8(ascii: "\\")) else {
        append(member, of: body[name], raw: body[part.value], to: &writer)
        continue
      }
      if !ours.contains(where: { body[name].elementsEqual($0.utf8) }) {
        writer.members(raw: member)
      }
    }
    writer.member("bookmarked", isBookmarked)
    writer.endObject()
    return writer.bytes
  }

  /// The names, in quotation marks, of the members whose value comes from this service.
  private static let ours = [#""id""#, #""bookmarked""#]

  /// Appends a member whose name contains escapes.
  private static func append(
    _ member: ArraySlice<UInt8>, of name: ArraySlice<UInt8>, raw value: ArraySlice<UInt8>,
    to writer: inout JSONWriter
  ) {
    guard let text = try? ParsedJSON(Array(name), limits: .small).root.string else {
      return writer.members(raw: member)
    }
    guard !ours.contains(where: { $0.equalsBytes(of: "\"\(text)\"") }) else { return }
    writer.member(text, raw: Array(value))
  }
}
