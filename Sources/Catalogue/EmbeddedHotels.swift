import CCatalogue
import Documents

/// The hotels that this program carries, as one JSON object a line; see the notice beside them.
enum EmbeddedHotels {
  /// Their text.
  static var bytes: [UInt8] {
    [UInt8](UnsafeBufferPointer(start: ccatalogue_bytes(), count: ccatalogue_count()))
  }

  /// What tells one edition of them from the next: 64-bit FNV-1a (draft-eastlake-fnv) in hex. It
  /// guards against nobody, as the bytes are the program's own.
  static var digest: String {
    let hash = bytes.reduce(UInt64(0xcbf2_9ce4_8422_2325)) { hash, byte in
      (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    return Hex.string((0..<8).map { UInt8(truncatingIfNeeded: hash >> (56 - $0 * 8)) })
  }

  /// Makes a catalogue of them, in place of the one there is.
  /// - Throws: `busy`, `storageFull`, `unavailable`.
  static func install(in files: CatalogueFiles, at date: Timestamp) throws(CatalogueError) {
    let run = try ImportRun(
      into: files, kind: .embedded, name: digest, date: date, onBadRow: .refuse, report: { _ in })
    do {
      try run.take(bytes)
      _ = try run.finish()
    } catch {
      run.abandon()
      throw error
    }
  }
}
