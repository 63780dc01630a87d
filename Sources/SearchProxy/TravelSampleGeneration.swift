/// The two generations of the travel-sample back end, which differ in path and rows.
package enum TravelSampleGeneration: String, Sendable, CaseIterable {
  /// `/api/hotel/{description}/{location}/`: rows with an `id` and one field for each part of the
  /// address.
  case v1
  /// `/api/hotels/{description}/{location}/`: rows with name, description and one joined address,
  /// no `id`.
  case v2

  /// Which generation an upstream is of, as far as the configuration says.
  package enum Setting: String, Sendable, CaseIterable {
    /// Found out by asking: ``TravelSampleGeneration/v2`` first, the other when that is not found.
    case automatic
    /// ``TravelSampleGeneration/v1`` only.
    case v1
    /// ``TravelSampleGeneration/v2`` only.
    case v2

    /// The generations to ask, the one that answered last first.
    func order(remembered: TravelSampleGeneration?) -> [TravelSampleGeneration] {
      switch self {
      case .automatic: remembered == .v1 ? [.v1, .v2] : [.v2, .v1]
      case .v1: [.v1]
      case .v2: [.v2]
      }
    }
  }

  /// The collection's path, with a slash at both ends.
  var path: String {
    switch self {
    case .v1: "/api/hotel/"
    case .v2: "/api/hotels/"
    }
  }

  /// The path of a search. The slash at the end spares Flask its redirect.
  /// - Parameters: segments, encoded.
  func path(description: String, location: String) -> String {
    "\(path)\(description)/\(location)/"
  }
}
