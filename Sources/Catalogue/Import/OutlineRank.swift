/// Which of several lists and maps has the hotels: the least.
struct OutlineRank: Comparable {
  /// What is inside.
  enum Kind: Comparable {
    /// Objects with names.
    case hotels
    case objects
    /// Values that are no objects.
    case values
    case nothing
  }

  let kind: Kind
  /// The place of the best name of the path in ``names``, and that of the last one.
  private let (best, last): (Int, Int)
  let likeness: ObjectOutline.Likeness
  private let isMap: Bool

  init(path: [String], objects: Int, others: Int, likeness: ObjectOutline.Likeness, isMap: Bool) {
    kind = likeness > .none ? .hotels : objects > 0 ? .objects : others > 0 ? .values : .nothing
    let places = path.map { name in
      Self.names.firstIndex(of: HotelAliases.letters(of: name.utf8)) ?? Self.names.count
    }
    best = places.min() ?? Self.names.count
    last = places.last ?? Self.names.count
    self.likeness = likeness
    self.isMap = isMap
  }

  /// Whether a name of the path is known.
  var isKnown: Bool { best < Self.names.count }
  /// Whether the last name is known.
  var isNamed: Bool { last < Self.names.count }
  /// Whether a list of this name can only be one of hotels.
  static func isHotels(_ name: String) -> Bool {
    ["hotels", "hotellist", "accommodations", "lodgings"].contains(
      HotelAliases.letters(of: name.utf8))
  }
  /// Whether the path says that these are the hotels.
  var isHotels: Bool { best == 0 }

  static func < (one: OutlineRank, other: OutlineRank) -> Bool { one.key < other.key }

  private var key: (Kind, Int, Int, Int, Int) {
    (kind, best, last, likeness >= .hasNameAndPlace ? 0 : 1, isMap ? 1 : 0)
  }

  /// Names of lists, the most likely first.
  private static let names = ImportWords.listName.list
}
