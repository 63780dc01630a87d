import HTTPServer
import Scheduling
import Stores
import Synchronization

/// An export, without a manifest if it ends early.
struct ExportForm: LongAnswerForm {
  private var export: AccountExport
  /// The part that is read already.
  private var first: [UInt8]?
  /// Nil for an export that is not packed.
  private let packer: Packer?

  private final class Packer: Sendable {
    let gzip: Mutex<GzipWriter>

    init() throws { gzip = Mutex(try GzipWriter(level: 4)) }
  }

  /// - Parameter isPacked: whether it is sent as gzip.
  init(_ export: AccountExport, first: [UInt8], isPacked: Bool) throws {
    (self.export, self.first) = (export, first)
    packer = isPacked ? try Packer() : nil
  }

  mutating func next(after news: Subscription.News) async throws -> LongAnswerPart {
    let piece = if let first { first } else { try await export.next() }
    first = nil
    guard let piece else {
      let end = packer?.gzip.withLock { $0.finish() }
      return LongAnswerPart(pieces: end.map { [$0] } ?? [], following: .nothing, closing: [])
    }
    return LongAnswerPart(pieces: [try await packed(piece)], following: .more)
  }

  private func packed(_ bytes: [UInt8]) async throws -> [UInt8] {
    guard let packer else { return bytes }
    Work.current?.addMovedBytes(bytes.count)
    var rest = bytes[...]
    while !rest.isEmpty {
      packer.gzip.withLock { $0.append(rest.prefix(GzipWriter.pieceBytes)) }
      rest = rest.dropFirst(GzipWriter.pieceBytes)
      try await Slice.giveWay()
    }
    return packer.gzip.withLock { $0.takePacked() }
  }
}
