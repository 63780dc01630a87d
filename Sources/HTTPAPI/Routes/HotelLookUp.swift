import Hotels
import Lanes

extension HTTPService {
  /// Upstreams are asked for so many hotels of one request at once.
  private static var lookUpsAtOnce: Int { 8 }

  /// Adds what is known of hotels: of those without facts what the upstream says, of the others only what a search has
  /// shown, for they need nobody to be asked. Once the upstream has failed it is asked no more.
  /// - Returns: the hotels, and why an upstream could not say.
  func lookUp(
    _ additions: [HotelAddition]
  ) async throws -> (additions: [HotelAddition], failure: SearchError?) {
    var (additions, failure) = (additions, nil as SearchError?)
    var next = additions.startIndex
    while next < additions.endIndex {
      try await Slice.giveWay()
      let places = next..<min(next + Self.lookUpsAtOnce, additions.endIndex)
      let canAsk = failure == nil
      let found = await withTaskGroup(of: (Int, Result<Hotel?, SearchError>).self) { group in
        for place in places {
          let addition = additions[place]
          group.addTask { [search] in
            (place, await Self.known(addition, by: search, canAsk: canAsk))
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for (place, result) in found {
        switch result {
        case .success(let hotel): additions[place].shown = hotel
        case .failure(let error): failure = error
        }
      }
      next = places.upperBound
    }
    return (additions, failure)
  }

  /// Why bookmarks were not changed: for a hotel that is not known, why an upstream could not say.
  static func refusal(_ error: HotelError, instead failure: SearchError?) -> any Error {
    if error.code == .unknownHotel, let failure { return failure }
    return error
  }

  private static func known(
    _ addition: HotelAddition, by search: any HotelSearching, canAsk: Bool
  ) async -> Result<Hotel?, SearchError> {
    guard canAsk, !addition.replaces else { return .success(await search.shown(addition.id)) }
    do throws(SearchError) { return .success(try await search.hotel(addition.id)) } catch {
      return .failure(error)
    }
  }
}
