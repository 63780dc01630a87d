/// How many documents come after a number, for the numbers that were asked about last: a walk over the changes
/// goes on from the count of its page before, where counting anew for each page would be quadratic.
struct ChangeCounts {
  /// A number, and how many documents come after it.
  typealias Place = (sequence: Int64, count: Int64)

  /// How many are kept: so many walks that take turns.
  private static let maximumPlaces = 8

  /// The one that was used last stands last.
  private var places: [Place] = []

  /// The nearest number up to this one; nil where none is known.
  func nearest(upTo sequence: Int64) -> Place? {
    places.filter { $0.sequence <= sequence }.max { $0.sequence < $1.sequence }
  }

  /// Keeps a count, in the place of one that it went on from.
  mutating func remember(_ place: Place, insteadOf former: Int64? = nil) {
    places.removeAll { $0.sequence == place.sequence || $0.sequence == former }
    if places.count == Self.maximumPlaces { places.removeFirst() }
    places.append(place)
  }

  /// A document has got another number; its first one, or none any more.
  mutating func move(from old: Int64?, to new: Int64?) {
    for index in places.indices {
      if let old, old > places[index].sequence { places[index].count -= 1 }
      if let new, new > places[index].sequence { places[index].count += 1 }
    }
  }
}
