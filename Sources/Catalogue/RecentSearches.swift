import Documents
import Hotels
import Synchronization

/// The pages that were found last, in memory. Many people search for the same words, and a catalogue's file is never
/// changed, only replaced: so an equal search of the same file has the same page.
///
/// When the pages would exceed ``maximumBytes``, all are forgotten. That costs less than to keep an order, and what is
/// searched often is back at once.
final class RecentSearches: Sendable {
  /// The most bytes of hotels that are kept: 4 MiB.
  static let maximumBytes = 4 << 20
  /// The largest page that is kept, in bytes of its hotels: 64 KiB.
  static let maximumPageBytes = 64 << 10

  private struct Found {
    let query: HotelQuery
    let page: HotelPage
    let bytes: Int
  }

  private struct Pages {
    /// The catalogue's file that was searched.
    var file: FileIdentity?
    var byQuery: [HotelQuery: Found] = [:]
    var bytes = 0
  }

  private let pages = Mutex(Pages())

  /// The page that an equal search of this file has found; nil for none.
  func page(for query: HotelQuery, in file: FileIdentity) -> HotelPage? {
    pages.withLock { pages in
      guard pages.file == file, let found = pages.byQuery[query], found.query.hasBytes(of: query)
      else { return nil }
      return found.page
    }
  }

  /// Keeps a page, unless it is large or its total is not known.
  func keep(_ page: HotelPage, for query: HotelQuery, in file: FileIdentity) {
    let bytes = page.hotels.reduce(Self.overhead) { $0 + $1.body.bytes.count + Self.overhead }
    guard page.total != nil, bytes <= Self.maximumPageBytes else { return }
    pages.withLock { pages in
      if pages.file != file || pages.bytes + bytes > Self.maximumBytes { pages = Pages(file: file) }
      let found = Found(query: query, page: page, bytes: bytes)
      pages.bytes += bytes - (pages.byQuery.updateValue(found, forKey: query)?.bytes ?? 0)
    }
  }

  /// What a page takes beside its hotels, and a hotel beside its bytes: at most about 1 KiB.
  private static let overhead = 1 << 10
}

extension HotelQuery {
  /// Whether the texts are equal byte for byte. Equal strings may be spelt with other code points, which are other
  /// words to a search.
  fileprivate func hasBytes(of other: HotelQuery) -> Bool {
    func bytes(_ query: HotelQuery) -> [[UInt8]?] {
      [query.description, query.location].map { $0.map { Array($0.utf8) } }
    }
    return bytes(self) == bytes(other)
  }
}
