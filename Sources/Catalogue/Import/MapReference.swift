import Glibc

/// A map's plane in metres that a file names: web Mercator, a zone of UTM, or Lambert-93. GeoJSON of offices and of QGIS
/// has them. A position on another plane is left out.
///
/// The differences between WGS 84, ETRS89 and RGF93 are less than a metre.
/// - The numbers: <https://epsg.org>
/// - UTM: Karney, "Transverse Mercator with an accuracy of a few nanometers", section 2.
/// - Lambert-93: IGN, "Projection cartographique conique conforme de Lambert", NTG 71.
enum MapReference: Equatable {
  case webMercator
  case utm(zone: Int, isSouth: Bool)
  case lambert93

  /// The plane that a text names by the number of EPSG, as `urn:ogc:def:crs:EPSG::25832`; nil for degrees and other planes.
  init?(namedIn text: some StringProtocol) {
    let numbers = text.split { !("0"..."9").contains($0) }.compactMap { Int($0) }
    guard let found = numbers.lazy.compactMap(Self.init(number:)).first else { return nil }
    self = found
  }

  /// The plane of a number of EPSG, or of a former one for web Mercator.
  init?(number: Int) {
    switch number {
    case 3857, 102100, 900913: self = .webMercator
    case 2154: self = .lambert93
    case 25828...25838: self = .utm(zone: number - 25800, isSouth: false)
    case 32601...32660: self = .utm(zone: number - 32600, isSouth: false)
    case 32701...32760: self = .utm(zone: number - 32700, isSouth: true)
    default: return nil
    }
  }

  /// The point of two numbers in metres, east and north; nil outside of the plane, and for what may be degrees after all.
  func point(_ x: Double, _ y: Double) -> PositionForms.Point? {
    guard bounds.x.contains(x), bounds.y.contains(y), abs(x) > 180 || abs(y) > 90 else {
      return nil
    }
    let angles: (latitude: Double, longitude: Double) =
      switch self {
      case .webMercator: (2 * atan(exp(y / Self.radius)) - .pi / 2, x / Self.radius)
      case .utm(let zone, let isSouth): Self.utm(x - 500_000, isSouth ? y - 10_000_000 : y, zone)
      case .lambert93: Self.lambert93(x - 700_000, 12_655_612.049_876 - y)
      }
    return PositionForms.Point(
      north: angles.latitude * 180 / .pi, east: angles.longitude * 180 / .pi)
  }

  /// Where the plane is used.
  private var bounds: (x: ClosedRange<Double>, y: ClosedRange<Double>) {
    switch self {
    case .webMercator: (-Self.edge...Self.edge, -Self.edge...Self.edge)
    case .utm: (0...1_000_000, 0...10_000_000)
    case .lambert93: (0...1_400_000, 6_000_000...7_200_000)
    }
  }

  /// The earth's radius at the equator, and half of the equator, in metres.
  private static let (radius, edge) = (6_378_137.0, 20_037_508.342_789_25)

  /// The radius of the meridian in UTM's scale, in metres, and the series of Krüger, for the ellipsoid GRS 80.
  private static let meridian = 6_364_902.166_112_740
  private static let beta = [8.377321681862e-4, 5.906110921873e-8, 1.676991204140e-10]
  private static let delta = [3.356551465100e-3, 6.571913257672e-6, 1.767746022247e-8]

  /// The latitude and the longitude in radians of a point of UTM, from the zone's meridian and the equator.
  private static func utm(_ x: Double, _ y: Double, _ zone: Int) -> (Double, Double) {
    let (north, east) = (y / meridian, x / meridian)
    var (xi, eta) = (north, east)
    for (factor, value) in zip([2.0, 4, 6], beta) {
      xi -= value * sin(factor * north) * cosh(factor * east)
      eta -= value * cos(factor * north) * sinh(factor * east)
    }
    let conformal = asin(sin(xi) / cosh(eta))
    var latitude = conformal
    for (factor, value) in zip([2.0, 4, 6], delta) { latitude += value * sin(factor * conformal) }
    let middle = Double(zone * 6 - 183) * Double.pi / 180
    return (latitude, middle + atan2(sinh(eta), cos(xi)))
  }

  /// The same of a point of Lambert-93, from the axis of the cone.
  private static func lambert93(_ x: Double, _ y: Double) -> (Double, Double) {
    let (exponent, constant) = (0.725_607_765_053_267, 11_754_255.426_096)
    let eccentricity = 0.081_819_191_042_815_8
    let isometric = log(constant / hypot(x, y)) / exponent
    var latitude = 2 * atan(exp(isometric)) - .pi / 2
    // Each step is a hundred times nearer.
    for _ in 0..<8 {
      let part = eccentricity * sin(latitude)
      let ratio = pow((1 + part) / (1 - part), eccentricity / 2)
      latitude = 2 * atan(ratio * exp(isometric)) - .pi / 2
    }
    let middle = 3 * Double.pi / 180
    return (latitude, middle + atan2(x, y) / exponent)
  }
}
