import Documents
package import Photos
package import Stores

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
  ) async throws { try await write(&upload) }

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
