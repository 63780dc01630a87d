import HTTPServer
import Hummingbird
import Scheduling

/// A request's body as a stream, unpacked. The request is charged for its bytes as moved data.
///
/// Gzip unpacks to at most ``Call/mostUnpacked`` times the packed bytes, or to ``RequestReservation/freeBytes`` if that
/// is more, in pieces of at most ``GzipReader/pieceBytes``.
struct StreamedBody: AsyncSequence, Sendable {
  private let body: RequestBody
  private let coding: ContentCoding
  private let limit: Int?

  /// Wraps a body that is read once.
  /// - Parameter limit: the most bytes that gzip unpacks to, instead of those above.
  init(_ body: RequestBody, _ coding: ContentCoding, unpackingTo limit: Int? = nil) {
    (self.body, self.coding, self.limit) = (body, coding, limit)
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(body.makeAsyncIterator(), coding, unpackingTo: limit)
  }

  /// Reads a body piece by piece.
  struct Iterator: AsyncIteratorProtocol {
    private var pieces: RequestBody.AsyncIterator
    private let coding: ContentCoding
    private let limit: Int?
    /// Created with the first packed bytes.
    private var reader: GzipReader?
    /// The number of packed bytes so far.
    private var packed = 0

    fileprivate init(
      _ pieces: RequestBody.AsyncIterator, _ coding: ContentCoding, unpackingTo limit: Int?
    ) { (self.pieces, self.coding, self.limit) = (pieces, coding, limit) }

    /// - Throws: ``Problem`` 400 for malformed gzip, 413 for gzip that unpacks to too much; the errors of the
    ///   connection.
    @concurrent mutating func next() async throws -> [UInt8]? {
      let bytes =
        switch coding {
        case .identity: try await piece().map { Array($0.readableBytesView) }
        case .gzip: try await unpacked()
        }
      if let bytes { Work.current?.addMovedBytes(bytes.count) }
      return bytes
    }

    @concurrent private mutating func piece() async throws -> ByteBuffer? {
      let work = Work.current
      let wait = work?.beginWait()
      // The iterator can't be passed to a closure of ``Work/waiting(_:)``.
      let piece: Result<ByteBuffer?, any Error>
      do { piece = .success(try await pieces.next()) } catch { piece = .failure(error) }
      if let work, let wait { await work.end(wait) }
      try await Slice.giveWay()
      return try piece.get()
    }

    @concurrent private mutating func unpacked() async throws -> [UInt8]? {
      do {
        let reader = try self.reader ?? GzipReader()
        self.reader = reader
        while true {
          if let bytes = try await reader.next() { return bytes }
          guard let more = try await piece() else {
            guard reader.isComplete else { throw Call.malformedGzip }
            return nil
          }
          packed += more.readableBytes
          reader.limit =
            limit ?? Swift.max(RequestReservation.freeBytes, packed * Call.mostUnpacked)
          try reader.append(Array(more.readableBytesView))
        }
      } catch let error as CompressionError {
        throw Call.problem(error)
      }
    }
  }
}
