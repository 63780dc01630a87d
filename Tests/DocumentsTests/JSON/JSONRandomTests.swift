import Documents
import Testing

/// Properties that hold for any value and any bytes.
@Suite struct JSONRandomTests {
  @Test(arguments: 0..<8)
  func anyValueComesBackFromItsBytes(_ seed: UInt64) throws {
    var random = JSONRandom(seed: seed)
    for _ in 0..<40 {
      let value = random.value(depth: 5)
      let root = try ParsedJSON(value.bytes, limits: .document).root
      #expect(root.value == value)
      #expect(root.minified == value.bytes)
      let canonical = try ParsedJSON(root.canonical, limits: .document).root
      #expect(canonical.value == value)
      #expect(canonical.canonical == root.canonical)
    }
  }

  @Test(arguments: 0..<4)
  func shuffledMembersHaveTheSameCanonicalBytes(_ seed: UInt64) throws {
    var random = JSONRandom(seed: seed &+ 100)
    for _ in 0..<40 {
      guard case .object(let object) = random.value(depth: 4) else { continue }
      let shuffled = JSONObject(object.members.shuffled(using: &random).map { ($0.name, $0.value) })
      let (one, other) = (JSONValue.object(object), JSONValue.object(shuffled))
      #expect(one == other)
      let canonical = try ParsedJSON(one.bytes, limits: .document).root.canonical
      #expect(try ParsedJSON(other.bytes, limits: .document).root.canonical == canonical)
    }
  }

  @Test(arguments: 0..<8)
  func damagedBytesAreReadOrRefusedAndNeverTrap(_ seed: UInt64) throws {
    var random = JSONRandom(seed: seed &+ 1000)
    let text = Self.text
    for _ in 0..<500 {
      var bytes = text
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        damage(&bytes, &random)
      }
      guard let root = try? ParsedJSON(bytes, limits: .document).root else { continue }
      let minified = root.minified
      #expect(try ParsedJSON(minified, limits: .document).root.minified == minified)
      let canonical = try ParsedJSON(root.canonical, limits: .document).root
      #expect(canonical.value == root.value)
    }
  }

  @Test func everyPrefixIsRefusedWithinItsBytes() {
    for length in 0..<Self.text.count {
      let error = JSONReading.fault(Array(Self.text[..<length]))
      #expect(error.map { $0.offset <= length } == true)
    }
  }

  private static let text = Array(
    """
    {"_id":"hotel_10025","name":"Medway Youth Hostel","caf\\u00e9":"\u{1f600}\\ud83d\\ude00\\n",
     "geo": {"lat": 51.35785, "lon": 0.55818e0, "accuracy": "RANGE_INTERPOLATED"},
     "reviews":[{"ratings":{"Overall":-0,"Rooms":3}, "date":null},[],{}], "free": [true, false]}
    """.utf8)

  private func damage(_ bytes: inout [UInt8], _ random: inout JSONRandom) {
    let index = Int.random(in: 0..<bytes.count, using: &random)
    let structural = Array("{}[]\",:\\u0e-. \u{e9}tfn".utf8)
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes[index] = .random(in: 0...255, using: &random)
    case 1: bytes.remove(at: index)
    case 2:
      bytes.insert(structural[Int.random(in: 0..<structural.count, using: &random)], at: index)
    case 3: bytes[index] = structural[Int.random(in: 0..<structural.count, using: &random)]
    default: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    }
  }
}
