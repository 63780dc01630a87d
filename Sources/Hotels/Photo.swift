package import Documents
package import JSON
package import Photos
package import Stores

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

/// What a request requires of a photo, by its digest.
///
/// Source: RFC 9110 sections 13.1.1 and 13.1.2.
package enum PhotoCondition: Sendable, Equatable {
  case none
  /// The photo has one of these digests: the Base64 of the MD5, as in its entity tag.
  case matches([String])
  case exists
  case absent

  /// - Throws: `precondition`.
  func check(_ present: AttachmentStub?) throws {
    let digest = present.map { $0.digest.utf8.dropFirst("md5-".utf8.count) }
    let isMet =
      switch self {
      case .none: true
      case .matches(let tags):
        digest.map { d in tags.contains { d.elementsEqual($0.utf8) } } ?? false
      case .exists: present != nil
      case .absent: present == nil
      }
    guard isMet else {
      throw ServiceError(.precondition, "The photo is not in the state that the request demands")
    }
  }
}

/// A photo while its bytes arrive. They are cleaned before any of them is stored.
package struct PhotoUpload: Sendable {
  package private(set) var upload = AttachmentUpload(limit: Photo.maximumBytes)
  private var cleaner = PhotoCleaner()
  /// How many bytes have arrived.
  private var count = 0

  package init() {}

  /// Whether enough bytes are held to be written.
  package var isFull: Bool { upload.isFull }

  /// Adds the next bytes.
  /// - Throws: `attachmentTooLarge`, `unsupportedPhoto`, `malformedPhoto`.
  package mutating func append(_ bytes: [UInt8]) throws {
    guard bytes.count <= Photo.maximumBytes - count else {
      throw AttachmentUpload.tooLarge(Photo.maximumBytes)
    }
    count += bytes.count
    do { try upload.append(try cleaner.clean(bytes)) } catch let error as PhotoError {
      throw Self.error(error)
    }
  }

  /// Ends the photo when all of its bytes have come.
  /// - Returns: its type.
  /// - Throws: `unsupportedPhoto`, `malformedPhoto`.
  package func check() throws -> PhotoType {
    do { return try cleaner.finish() } catch { throw Self.error(error) }
  }

  /// Runs an operation that writes a part of it to the store.
  package mutating func writing(
    _ write: (inout AttachmentUpload) async throws -> Void
  ) async throws {
    try await write(&upload)
  }

  private static func error(_ error: PhotoError) -> ServiceError {
    switch error {
    case .unknownType:
      ServiceError(.unsupportedPhoto, "A photo is a \(PhotoType.names), by its own bytes")
    case .malformed(let reason):
      ServiceError(
        .malformedPhoto,
        "\(reason). Only a photo that can be read is stored, because it may say where it was taken")
    }
  }
}
