import Accounts

/// How many feeds wait, all of them and by whom they are: never by store, which one reader could fill for others.
struct CouchFeedCounts {
  /// All.
  private var total = 0
  private var byPrincipal: [String: Int] = [:]
  private var byAddress: [ClientAddress: Int] = [:]

  /// Counts a reader if there is room; ``leave(_:)`` has to follow then.
  mutating func enter(_ reader: CouchFeedReader) -> Bool {
    guard total < CouchFeeds.total,
      byPrincipal[reader.principal, default: 0] < CouchFeeds.perPrincipal
    else { return false }
    if let address = reader.address {
      guard byAddress[address, default: 0] < CouchFeeds.perAddress else { return false }
      byAddress[address, default: 0] += 1
    }
    byPrincipal[reader.principal, default: 0] += 1
    total += 1
    return true
  }

  /// Takes a reader that was counted out again.
  mutating func leave(_ reader: CouchFeedReader) {
    total -= 1
    if let count = byPrincipal[reader.principal] {
      byPrincipal[reader.principal] = count > 1 ? count - 1 : nil
    }
    if let address = reader.address, let count = byAddress[address] {
      byAddress[address] = count > 1 ? count - 1 : nil
    }
  }
}
