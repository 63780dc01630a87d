import Documents
import Lanes
package import Stores

/// The offline copy: everything once, then only what changed.
extension HotelService {
  /// What a copy lacks.
  /// - Parameter token: where the copy stands; nil for none.
  /// - Returns: nil when the copy can't go on from there and has to begin again without a token.
  /// - Throws: `store`.
  package func mirror(
    of name: StoreName, since token: MirrorToken?
  ) async throws(HotelError) -> MirrorPage? {
    let outcome = try await read(name, inSlices: MirrorReader(since: token)) {
      reader, view throws(StoreError) in try reader.read(view)
    }
    switch outcome {
    case .page(let page)?: return page
    case .outdated?: return nil
    case nil: return token.map { $0.sequence == 0 } ?? true ? .nothing : nil
    }
  }

  /// Everything that a person has bookmarked, newest first, for a search among it.
  /// - Throws: `store`.
  package func allBookmarks(in name: StoreName) async throws(HotelError) -> [Hotel] {
    let bookmarks =
      try await read(name, inSlices: ListedHotels(nil)) { hotels, view throws(StoreError) in
        try hotels.read(view) ? hotels.found : nil
      } ?? []
    var hotels: [Hotel] = []
    for bookmark in bookmarks {
      if let body = try? DocumentBody(parsing: bookmark.hotel) {
        hotels.append(Hotel(id: bookmark.id, body: body))
      }
      do { try await Slice.giveWay() } catch { throw HotelError(StoreError.ended) }
    }
    return hotels
  }
}

extension MirrorPage {
  /// The page of a store that is not there.
  static let nothing = MirrorPage(
    token: .absent, isReset: true, hasMore: false, hotels: [], removed: [], order: [])
}
