import Hotels

/// Parts of countries that people name, though most lists of hotels have only the city and the country: Wales, Bavaria,
/// Sicily. A hotel is in one by its position.
struct NamedRegion: Sendable {
  /// The country's code.
  let country: String
  /// Its names, the English one first.
  let names: [String]
  /// Its outlines, in hundredths of a degree. Only the country's points count, so an outline may include sea and other
  /// countries.
  private(set) var outlines: [[Corner]]

  /// A corner of an outline, in hundredths of a degree: east and north.
  struct Corner: Sendable { let x, y: Int }

  /// How far from an outline a point is still in the region, in hundredths of a degree of latitude: 3 km, by which coasts
  /// are simplified.
  private static let margin = 3.0

  /// The region of a point of a country; nil if it is in none of these.
  static func region(of point: GeoPoint, in country: String) -> NamedRegion? {
    guard let regions = byCountry[country] else { return nil }
    if let found = regions.first(where: { region in
      region.outlines.contains { Outline($0).contains(point) }
    }) {
      return found
    }
    let near = regions.map { region in
      region.outlines.map { Outline($0).distance(to: point) }.min() ?? .infinity
    }
    guard let least = near.min(), least < margin, let index = near.firstIndex(of: least) else {
      return nil
    }
    return regions[index]
  }

  /// The regions of each country, by its code, in the order in which they are asked.
  static let byCountry = Dictionary(grouping: all) { $0.country }

  /// All regions, in the order in which they are asked.
  static let all: [NamedRegion] = {
    var regions: [NamedRegion] = []
    for row in NameTable.region.rows {
      func numbers(_ field: String) -> [Int] { field.split(separator: " ").compactMap { Int($0) } }
      // The first corner, or two of a box, come after the names.
      guard let at = row.firstIndex(where: { [2, 4].contains(numbers($0).count) }), at > 1 else {
        continue
      }
      let (first, names) = (numbers(row[at]), Array(row[1..<at]))
      var outline =
        first.count == 4
        ? [(0, 1), (2, 1), (2, 3), (0, 3)].map { Corner(x: first[$0.0], y: first[$0.1]) }
        : [Corner(x: first[0], y: first[1])]
      let steps = row[(at + 1)...].joined().utf8.map { Int($0) - Int(UInt8(ascii: "P")) }
      for index in stride(from: 0, to: steps.count - 1, by: 2) {
        guard let last = outline.last else { break }
        outline.append(Corner(x: last.x + steps[index], y: last.y + steps[index + 1]))
      }
      if let last = regions.last, last.country == row[0], last.names == names {
        regions[regions.endIndex - 1].outlines.append(outline)
      } else {
        regions.append(NamedRegion(country: row[0], names: names, outlines: [outline]))
      }
    }
    return regions
  }()
}

/// The corners of an area, the last one joined to the first.
private struct Outline {
  let corners: [NamedRegion.Corner]

  init(_ corners: [NamedRegion.Corner]) { self.corners = corners }

  private var edges: some Sequence<(NamedRegion.Corner, NamedRegion.Corner)> {
    zip(corners, corners[1...] + corners[..<1])
  }

  /// Whether a ray to the east crosses an odd number of edges.
  func contains(_ point: GeoPoint) -> Bool {
    let (x, y) = (point.longitude * 100, point.latitude * 100)
    var isInside = false
    for (one, other) in edges where (Double(one.y) > y) != (Double(other.y) > y) {
      let share = (y - Double(one.y)) / Double(other.y - one.y)
      if x < Double(one.x) + share * Double(other.x - one.x) { isInside.toggle() }
    }
    return isInside
  }

  /// The distance to the nearest edge, in hundredths of a degree of latitude.
  func distance(to point: GeoPoint) -> Double {
    // A degree of longitude is shorter by the cosine of the latitude; 0.65 is near enough in Europe.
    let narrowing = 0.65
    let (east, north) = (point.longitude * 100, point.latitude * 100)
    func place(_ corner: NamedRegion.Corner) -> (x: Double, y: Double) {
      ((Double(corner.x) - east) * narrowing, Double(corner.y) - north)
    }
    return edges.map { one, other in
      let (one, other) = (place(one), place(other))
      let (dx, dy) = (other.x - one.x, other.y - one.y)
      let length = dx * dx + dy * dy
      let share = length > 0 ? min(1, max(0, -(one.x * dx + one.y * dy) / length)) : 0
      let (x, y) = (one.x + share * dx, one.y + share * dy)
      return (x * x + y * y).squareRoot()
    }.min() ?? .infinity
  }
}
