import HTTPServer
import Hummingbird
import NIOCore
import Scheduling
import Stores

/// Writes an export to a client, no faster than the client reads it. It ends when the client closes the connection. It
/// ends early, without a manifest, when the account may no longer read the data or the store is gone.
struct ExportStream: Sendable {
  /// The export that is read.
  let export: AccountExport
  /// The part that is already read.
  let first: [UInt8]
  /// The slot among the long answers.
  let registration: CouchFeedRegistration
  /// Whether it is sent as gzip.
  let isPacked: Bool

  /// Writes the whole export.
  /// - Throws: the errors of reading and of the connection; the answer is then incomplete.
  @concurrent func write(to writer: inout any ResponseBodyWriter) async throws {
    defer { registration.cancel() }
    let packer = isPacked ? try GzipWriter(level: 4) : nil
    var (export, piece) = (export, Optional(first))
    // The empty write sends the head.
    try await writer.write(ByteBuffer())
    while let bytes = piece {
      Work.current?.addMovedBytes(bytes.count)
      try await registration.send(try await Self.packed(bytes, by: packer), to: &writer)
      piece = try await export.next()
    }
    if let packer { try await registration.send(packer.finish(), to: &writer) }
    try await writer.finish(nil)
  }

  private static func packed(_ bytes: [UInt8], by packer: GzipWriter?) async throws -> [UInt8] {
    guard let packer else { return bytes }
    var rest = bytes[...]
    while !rest.isEmpty {
      packer.append(rest.prefix(GzipWriter.pieceBytes))
      rest = rest.dropFirst(GzipWriter.pieceBytes)
      try await Slice.giveWay()
    }
    return packer.takePacked()
  }
}
