package import Documents
import Glibc

/// A point on the globe, in degrees (WGS 84).
package struct GeoPoint: Sendable, Hashable {
  /// Degrees north of the equator, -90 to 90.
  package let latitude: Double
  /// Degrees east of Greenwich, -180 to 180.
  package let longitude: Double

  /// Makes a point; nil outside of those bounds.
  package init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  /// Reads `lat,lon`, for example `51.5,-0.12`, with at most nine decimals each; nil for anything else.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    guard parts.count == 2, let latitude = Self.degrees(parts[0]),
      let longitude = Self.degrees(parts[1])
    else { return nil }
    self.init(latitude: latitude, longitude: longitude)
  }

  private static func degrees(_ text: Substring.UTF8View) -> Double? {
    func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    let unsigned = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
    let whole = unsigned.prefix(while: isDigit)
    let fraction = unsigned.dropFirst(whole.count)
    guard (1...3).contains(whole.count), whole.count == 1 || whole.first != UInt8(ascii: "0"),
      fraction.isEmpty
        || fraction.first == UInt8(ascii: ".") && (2...10).contains(fraction.count)
          && fraction.dropFirst().allSatisfy(isDigit)
    else { return nil }
    return Double(String(decoding: Array(text), as: UTF8.self))
  }

  /// A hotel's position, from `geo` with `lat` and `lon`; nil when the hotel has none.
  package init?(ofHotel hotel: JSONNode) {
    guard let geo = hotel["geo"], let latitude = geo["lat"]?.double,
      let longitude = geo["lon"]?.double
    else { return nil }
    self.init(latitude: latitude, longitude: longitude)
  }

  /// The point on a sphere of radius 1. Of two points, the one nearer to a third has the larger scalar product with
  /// it. Comparing distances this way needs no trigonometric function.
  package var vector: (x: Double, y: Double, z: Double) {
    let (north, east) = (latitude * .pi / 180, longitude * .pi / 180)
    return (cos(north) * cos(east), cos(north) * sin(east), sin(north))
  }
}
