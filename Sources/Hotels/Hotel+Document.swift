import Documents

extension Hotel {
  /// The `type` of a hotel's document.
  package static let type = "hotel"

  /// The body to store: the hotel's own bytes, with `"type":"hotel"` put at their end when they have no
  /// `type`.
  /// - Throws: `invalidHotel` for another `type`, since the observer and the mirror go by it and replacing
  ///   it would lose what the client said; `tooLarge`.
  func stored() throws(HotelError) -> DocumentBody {
    guard body.bytes.count <= BookmarkLimits.hotelBytes else { throw Self.tooLarge }
    if let type = body.type, type.equalsBytes(of: Self.type) { return body }
    do {
      guard try ParsedJSON(body.bytes, limits: .document).root["type"] == nil else {
        throw HotelError(.invalidHotel, #"A hotel's type must be "hotel", or left out"#)
      }
      var bytes = Array(body.bytes.dropLast())
      if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
      bytes += #""type":"hotel"}"#.utf8
      guard bytes.count <= BookmarkLimits.hotelBytes else { throw Self.tooLarge }
      return try DocumentBody(parsing: bytes)
    } catch let error as HotelError {
      throw error
    } catch let error as DocumentError {
      throw HotelError(.invalidHotel, error.reason)
    } catch {
      throw HotelError(.invalidHotel, "The hotel can't be read as JSON")
    }
  }

  private static let tooLarge = HotelError(
    .tooLarge, "A hotel may have at most \(BookmarkLimits.hotelBytes) bytes")
}
