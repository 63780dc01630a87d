import Catalogue
import HTTPAPI
import HTTPServer

/// The bytes of a file to import, unpacked if they are gzip (RFC 1952). The first two bytes say whether they are.
///
/// They unpack to at most ``mostUnpacked`` times the packed bytes, so that a small file can't fill the disk.
struct UnpackedPieces: AsyncSequence, Sendable {
  /// How many times its packed bytes a file may have. Lists of hotels reach 20.
  static let mostUnpacked = 200
  /// What any file may unpack to, in bytes: 1 MiB.
  static let leastLimit = 1 << 20

  private let pieces: Administration.Pieces

  init(_ pieces: Administration.Pieces) { self.pieces = pieces }

  func makeAsyncIterator() -> Iterator { Iterator(pieces.makeAsyncIterator()) }

  /// Reads a file piece by piece.
  struct Iterator: AsyncIteratorProtocol {
    private var pieces: any AsyncIteratorProtocol<[UInt8], any Error>
    /// Made if the file is gzip.
    private var reader: GzipReader?
    private var isStarted = false
    private var packed = 0

    fileprivate init(_ pieces: any AsyncIteratorProtocol<[UInt8], any Error>) {
      self.pieces = pieces
    }

    /// - Throws: `malformed` for damaged gzip, and for gzip that unpacks to too much; the errors of the pieces.
    @concurrent mutating func next() async throws -> [UInt8]? {
      guard isStarted else { return try await start() }
      guard let reader else { return try await pieces.next(isolation: nil) }
      do {
        while true {
          if let bytes = try await reader.next() { return bytes }
          guard let more = try await pieces.next(isolation: nil) else {
            guard reader.isComplete else { throw CompressionError.malformed }
            return nil
          }
          try append(more, to: reader)
        }
      } catch let error as CompressionError {
        throw Self.refusal(error)
      }
    }

    /// The first bytes: at least two, if there are so many.
    @concurrent private mutating func start() async throws -> [UInt8]? {
      isStarted = true
      var first: [UInt8] = []
      while first.count < 2, let piece = try await pieces.next(isolation: nil) { first += piece }
      guard first.starts(with: [0x1F, 0x8B]) else { return first.isEmpty ? nil : first }
      do {
        let reader = try GzipReader()
        try append(first, to: reader)
        self.reader = reader
      } catch { throw Self.refusal(error) }
      return try await next()
    }

    private mutating func append(_ bytes: [UInt8], to reader: GzipReader) throws(CompressionError) {
      packed += bytes.count
      reader.limit = Swift.max(UnpackedPieces.leastLimit, packed * UnpackedPieces.mostUnpacked)
      try reader.append(bytes)
    }

    private static func refusal(_ error: CompressionError) -> CatalogueError {
      switch error {
      case .malformed: CatalogueError(.malformed, "The file is gzip, but damaged or not complete.")
      case .tooLarge:
        CatalogueError(
          .malformed,
          "The file unpacks to more than \(UnpackedPieces.mostUnpacked) times its bytes.")
      case .outOfMemory: CatalogueError(.unavailable, "There is not enough memory to unpack.")
      }
    }
  }
}
