import CouchSync
import HTTPTypes
import Stores

/// The rows of a `_changes` answer that waits or is longer than a page.
struct CouchChanges: LongAnswerForm {
  /// The database.
  let store: CouchStore
  /// How to wait and what is around the rows.
  let feed: CouchFeed
  /// The query for the next page.
  var query: ChangesQuery
  /// The page that is read already, before the answer began, so that an early error has its status.
  var first: ChangesPage?
  /// What ends the answer after the last page.
  private var closing: [UInt8] = []
  private var hasRows = false

  init(of store: CouchStore, in feed: CouchFeed, _ query: ChangesQuery, first: ChangesPage) {
    (self.store, self.feed, self.query, self.first) = (store, feed, query, first)
  }

  var rhythm: LongAnswerRhythm {
    LongAnswerRhythm(heartbeat: feed.heartbeat, beat: feed.beat, timeout: feed.timeout)
  }

  mutating func next(after news: Subscription.News) async throws -> LongAnswerPart {
    let opening = first == nil ? [] : feed.opening
    guard let page = try await read() else {
      // An answer of kind `normal` would look complete.
      return LongAnswerPart(following: .nothing, closing: feed.kind == .normal ? nil : closing)
    }
    query = page.isComplete ? query.later(than: page) : query.after(page)
    closing = feed.closing(page)
    let isJoined = hasRows && !page.rows.isEmpty
    hasRows = hasRows || !page.rows.isEmpty
    let isLast = page.isComplete && feed.isOver(query, hasRows: hasRows)
    return LongAnswerPart(
      pieces: [opening, isJoined ? feed.separator : []].filter { !$0.isEmpty } + page.rows.pieces,
      following: isLast ? .nothing : page.isComplete ? .news : .more,
      closing: isLast || feed.kind != .normal ? closing : nil)
  }

  /// Reads the next page; nil if the answer has to end.
  private mutating func read() async throws -> ChangesPage? {
    if let page = first {
      first = nil
      return page
    }
    do {
      let page = try await store.read { [query] database in try await database.changes(query) }
      // Rewound: a new store has the same name. The client asks again with its last token, and the answer to that says
      // so.
      return page.isRewound ? nil : page
    } catch let error
      where [403, 404].contains(ErrorTable.problem(for: error, in: .couch).status.code)
    {
      // The store or the right is gone, of which this reader is not told yet.
      return nil
    }
  }
}
