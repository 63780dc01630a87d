import Hotels
import Scheduling
import Stores

/// Adds the facts of hotels that are to be bookmarked.
struct HotelLookUp: Sendable {
  /// How many hotels of one request the upstream is asked for at the same time.
  private static let atOnce = 8

  /// The upstream.
  let search: any HotelSearching

  /// Adds the known facts of hotels. A hotel without facts gets those of the upstream. For a hotel with facts no
  /// request is sent to the upstream; it gets only what an earlier search has returned. After a failure no further
  /// request is sent.
  /// - Returns: the hotels, and the upstream's error if it failed.
  func find(
    _ additions: [HotelAddition]
  ) async throws -> (additions: [HotelAddition], failure: SearchError?) {
    var (additions, failure) = (additions, nil as SearchError?)
    var next = additions.startIndex
    while next < additions.endIndex {
      try await Slice.giveWay()
      let indices = next..<min(next + Self.atOnce, additions.endIndex)
      let canAsk = failure == nil
      let found = await withTaskGroup(of: (Int, Result<Hotel?, SearchError>).self) { group in
        for index in indices {
          let addition = additions[index]
          group.addTask { [search] in
            (index, await Self.known(addition, by: search, canAsk: canAsk))
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      for (index, result) in found {
        switch result {
        case .success(let hotel): additions[index].shown = hotel
        case .failure(let error): failure = error
        }
      }
      next = indices.upperBound
    }
    return (additions, failure)
  }

  /// The error of a change of bookmarks: if a hotel is unknown, the upstream's failure instead.
  static func refusal(_ error: any Error, instead failure: SearchError?) -> any Error {
    if ServiceError(error)?.code == .unknownHotel, let failure { return failure }
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
