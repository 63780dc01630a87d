package import Stores

extension ServiceError.Code {
  /// The bookmark is not in the state that the request requires.
  package static let precondition = Self("precondition")
  /// The hotel is unknown and is not bookmarked.
  package static let unknownHotel = Self("unknownHotel")
  /// A document with the hotel's id exists but is not a hotel.
  package static let occupied = Self("occupied")
  /// Bytes that are no photo of a type that is taken.
  package static let unsupportedPhoto = Self("unsupportedPhoto")
  /// A photo whose structure can't be read.
  package static let malformedPhoto = Self("malformedPhoto")
  /// The bookmark has as many photos as it may have.
  package static let tooManyPhotos = Self("tooManyPhotos")
}
