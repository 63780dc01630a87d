import Glibc
package import Scheduling

/// The bytes of a file, which may be a pipe, in pieces.
package struct FilePieces: AsyncSequence, Sendable {
  /// The number of bytes in one read.
  package static let pieceBytes = 256 * 1024

  private let path: String
  private let threads: ThreadPool

  /// - Parameter threads: where the file is read.
  package init(path: String, on threads: ThreadPool) {
    self.path = path
    self.threads = threads
  }

  package func makeAsyncIterator() -> Iterator { Iterator(path, threads) }

  package final class Iterator: AsyncIteratorProtocol {
    private let path: String
    private let threads: ThreadPool
    /// Opened with the first piece.
    private var file: Int32 = -1

    fileprivate init(_ path: String, _ threads: ThreadPool) {
      self.path = path
      self.threads = threads
    }

    deinit {
      if file >= 0 { close(file) }
    }

    /// - Throws: `unreadable`.
    package func next() async throws -> [UInt8]? {
      if file < 0 {
        let path = path
        file = try await threads.run { () throws(CatalogueError) in
          let file = open(path, O_RDONLY | O_CLOEXEC)
          guard file >= 0 else { throw FilePieces.unreadable(errno) }
          return file
        }
      }
      let file = file
      return try await threads.run { () throws(CatalogueError) in
        try FilePieces.piece(of: file)
      }
    }
  }

  /// The next bytes of a file; nil at its end.
  private static func piece(of file: Int32) throws(CatalogueError) -> [UInt8]? {
    var failure: Int32?
    let bytes = [UInt8](unsafeUninitializedCapacity: pieceBytes) { buffer, count in
      repeat {
        count = read(file, buffer.baseAddress, buffer.count)
      } while count < 0 && errno == EINTR
      if count < 0 { (failure, count) = (errno, 0) }
    }
    if let failure { throw unreadable(failure) }
    return bytes.isEmpty ? nil : bytes
  }

  private static func unreadable(_ code: Int32) -> CatalogueError {
    CatalogueError(
      .unreadable, "The file to import can't be read.", detail: String(cString: strerror(code)))
  }
}
