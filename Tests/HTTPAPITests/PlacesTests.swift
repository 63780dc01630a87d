import IPAddresses
import Testing

@testable import HTTPAPI

@Suite struct PlacesTests {
  /// Somebody who wants a place.
  private final class Holder: Sendable {}

  private let one = ClientAddress("192.0.2.1")
  private let other = ClientAddress("192.0.2.2")

  /// The outcome of `take`: the number of the holder whose place is taken.
  private enum Outcome: Equatable {
    case free, refused
    case instead(of: Int)
  }

  /// Places, and the holders that want them.
  private struct Scene {
    var places = Places<Holder>(.init(total: 4, perAddress: 3, perPrincipal: 2))
    let holders = (0..<8).map { _ in Holder() }

    mutating func take(_ number: Int, _ address: ClientAddress?, _ principal: String) -> Outcome {
      switch places.take(holders[number], from: address, as: principal) {
      case .taken(let displaced?): .instead(of: holders.firstIndex { $0 === displaced } ?? -1)
      case .taken: .free
      case .refused: .refused
      }
    }
  }

  @Test func principalsAndAddressesHaveALimitEach() {
    var scene = Scene()
    let first = [scene.take(0, one, "a"), scene.take(1, one, "a"), scene.take(2, other, "a")]
    #expect(first == [.free, .free, .refused])
    let second = [scene.take(2, one, "b"), scene.take(3, one, "c")]
    #expect(second == [.free, .refused])
    for _ in 0..<2 { scene.places.give(scene.holders[0]) }
    #expect(scene.places.count == 2)
    let third = scene.take(3, one, "c")
    #expect(third == .free)
  }

  @Test func whoeverHasMostLosesTheNewestToANewcomer() {
    var scene = Scene()
    let first = [
      scene.take(0, one, "a"), scene.take(1, one, "b"), scene.take(2, one, "c"),
      scene.take(3, nil, "d"),
    ]
    #expect(first == [.free, .free, .free, .free])
    let newcomer = scene.take(4, other, "e")
    #expect(newcomer == .instead(of: 2) && scene.places.count == 4)
    // Each of these would then have the most.
    let others = [scene.take(5, other, "f"), scene.take(6, one, "g")]
    #expect(others == [.refused, .refused])
  }
}
