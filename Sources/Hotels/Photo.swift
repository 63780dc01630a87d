package import Documents
import Photos
import Stores

/// A photo of a bookmarked hotel: an attachment of its document whose content type is a photo's, whichever API it came
/// through.
package struct Photo: Sendable, Equatable {
  /// The most photos of one bookmark.
  package static let most = 20
  /// The most bytes of one: 10 MiB.
  package static let maximumBytes = AttachmentLimits.personBytes

  package let stub: AttachmentStub

  /// Nil for an attachment that is no photo.
  init?(_ stub: AttachmentStub) {
    guard PhotoType.isPhoto(stub.contentType) else { return nil }
    self.stub = stub
  }

  /// The photos that a hotel's body names.
  static func all(in body: [UInt8]) -> [Photo] {
    DocumentBody.attachments(in: body)?.stubs.compactMap(Photo.init) ?? []
  }

  /// Appends `"name":"…","type":"image/…","size":n,"digest":"md5-…"`.
  package func appendMembers(to writer: inout JSONWriter) {
    writer.member("name", stub.name.text)
    writer.member("type", stub.contentType)
    writer.member("size", Int(clamping: stub.length))
    writer.member("digest", stub.digest)
  }
}
