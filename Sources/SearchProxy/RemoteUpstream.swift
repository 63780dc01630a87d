package import Hotels

/// An upstream that is asked over a network, and says what it need not be asked: such an answer tells nothing
/// of whether anybody is there, so a circuit breaker must not hear of it.
package protocol RemoteUpstream: HotelSearching {
  /// Whether it can be asked for a hotel by its id; if not, ``HotelSearching/hotel(_:)`` is nil always.
  var looksUpIDs: Bool { get }

  /// The answer to a search that nothing can match; nil for one that has to be asked.
  func answerWithoutAsking(_ query: HotelQuery) -> HotelPage?
}

extension RemoteUpstream {
  /// It can.
  package var looksUpIDs: Bool { true }

  /// It has to be asked everything.
  package func answerWithoutAsking(_ query: HotelQuery) -> HotelPage? { nil }
}
