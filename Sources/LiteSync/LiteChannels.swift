import Documents
import Scheduling
import Stores

/// The filter of a pull by channels. A document is in the channels that its member `channels` names, a text or a list of
/// texts, as with the standard sync function of Sync Gateway. `*` is every document.
struct LiteChannels: Sendable {
  private static let filter = "sync_gateway/bychannel"
  private static let everything = "*"
  private static let member = "channels"
  /// What every document in a channel contains.
  private static let mark = Array(#""channels""#.utf8)
  /// The most channels of a pull, and of a document: further ones of a document don't count.
  private static let most = 1_000

  /// The names of the channels, in UTF-8.
  private let names: Set<[UInt8]>

  /// Reads a request; nil for one without a filter.
  /// - Throws: `LiteError` for another filter, and for too many channels.
  init?(_ request: LiteRequest) throws(LiteError) {
    guard let filter = request["filter"] else { return nil }
    guard filter.utf8.elementsEqual(Self.filter.utf8), let channels = request["channels"] else {
      throw .http(400, "No filter is offered but `docIDs` and `channels`")
    }
    names = Set(channels.utf8.split(separator: UInt8(ascii: ",")).map { Array($0) })
    guard names.count <= Self.most else {
      throw .http(400, "At most \(Self.most) channels are named")
    }
    if names.contains(Array(Self.everything.utf8)) { return nil }
  }

  /// Whether a stored body is in one of the channels.
  func have(_ body: [UInt8]) -> Bool {
    guard body.offset(of: Self.mark) != nil,
      let node = try? ParsedJSON(body, limits: .stored).root[Self.member]
    else { return false }
    return isNamed(node) || node.elements.prefix(Self.most).contains { isNamed($0) }
  }

  private func isNamed(_ node: JSONNode) -> Bool {
    node.string.map { names.contains(Array($0.utf8)) } ?? false
  }
}

/// Where a change stands to some channels.
enum LiteMembership: Sendable {
  /// The newest revision is in one of them.
  case member
  /// Only an earlier revision is.
  case former
  case outside
}

extension LiteChannels {
  /// Looks where a change stands. The kept ancestors are looked at until the slice is over.
  /// - Parameter looked: how many revisions were looked at before.
  /// - Returns: nil if the slice is over before that is known.
  func membership(
    of change: Change, looked: inout Int, in view: any StoreView
  ) throws -> LiteMembership? {
    guard let tree = try view.newest(change.id), let index = tree.index(of: change.revision) else {
      return .outside
    }
    let line = tree.line(at: index).prefix(StoreLimits.storedAncestors + 1)
    for (number, node) in line.enumerated().dropFirst(looked) {
      if let body = try view.body(change.id, of: node, in: tree), have(body) {
        return number == 0 ? .member : .former
      }
      looked = number + 1
      if view.slice.isOver, looked < line.count { return nil }
    }
    return .outside
  }
}
