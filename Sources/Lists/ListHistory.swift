package import Documents
import Hotels
import Scheduling
package import Stores

/// The last change of one document of a list: who made it, and what can be brought back.
package struct ListEvent: Sendable {
  package enum Subject: String, Sendable { case list, note, hotel }

  package let subject: Subject
  package let document: DocumentID
  /// The list's or note's title, or the hotel's name; the document's id when it is not known any more.
  package let name: String
  package let revision: RevisionID
  package let isDeleted: Bool
  /// When the change came and from whom; nil for one whose author is not stored.
  package let arrival: Arrival?
  /// The last revision before a removal, while its body is stored: to restore it brings the note or the hotel back.
  package let former: RevisionID?
}

/// A page of a list's history, newest first.
package struct ListHistoryPage: Sendable {
  /// Each document occurs once in the history, with its last change. There may be fewer than the limit, even none, when there
  /// is a ``next``.
  package let events: [ListEvent]
  /// The sequence number with which the next page begins; nil at the end.
  package let next: Int64?
}

extension ListService {
  /// The history of a list: the last change of the list itself, of each note and of each hotel. Documents that the service
  /// does not know are left out. The caller has checked that the account may read the list.
  /// - Parameter start: the ``ListHistoryPage/next`` of the page before; nil for the first page.
  /// - Throws: `absent`.
  package func history(
    of list: AccountID, from start: Int64?, limit: Int
  ) async throws -> ListHistoryPage {
    try await stores.withExisting(.list(list)) { store in
      try await store.read(inSlices: ListHistoryReader(list, from: start, limit: limit)) {
        reader, view in try reader.read(view)
      }
    }
  }
}

/// Reads a page of a list's history in slices, from its newest change on.
struct ListHistoryReader: Sendable {
  /// How many changes are read from the store at once.
  private static let batch = 64
  /// The most changes that one page looks at.
  static let scan = 5_000

  private let list: AccountID
  private let limit: Int
  /// The sequence number of the next change to look at; nil before the first.
  private var position: Int64?
  private var events: [ListEvent] = []
  private var scanned = 0

  init(_ list: AccountID, from start: Int64?, limit: Int) {
    (self.list, self.limit, position) = (list, limit, start)
  }

  /// Continues in a state of the store until the slice is over.
  /// - Returns: nil when the page is not complete yet.
  mutating func read(_ view: any StoreView) throws -> ListHistoryPage? {
    var next = try position ?? view.info().lastSequence
    defer { position = next }
    while true {
      let changes = try view.changes(upTo: next, limit: Self.batch)
      for change in changes {
        guard events.count < limit, scanned < Self.scan else {
          return ListHistoryPage(events: events, next: change.sequence)
        }
        if let event = try event(of: change, in: view) { events.append(event) }
        (next, scanned) = (change.sequence - 1, scanned + 1)
        if view.slice.isOver { return nil }
      }
      if changes.count < Self.batch { return ListHistoryPage(events: events, next: nil) }
    }
  }

  /// The event of a change; nil for a document that is neither the list nor one of its notes and hotels.
  private func event(of change: Change, in view: any StoreView) throws -> ListEvent? {
    let title = ListNote.title(of: change.id, in: list.text)
    let subject: ListEvent.Subject =
      change.id == ListDocument.id(of: list) ? .list : title == nil ? .hotel : .note
    guard subject != .hotel || HotelID(change.id.text) != nil else { return nil }
    let former = change.isDeleted ? try former(of: change, in: view) : nil
    let body = try change.isDeleted ? former?.body : view.document(change.id)?.body
    let root = body.flatMap { try? ParsedJSON($0, limits: .stored).root }
    if let root {
      guard root["type"]?.stringEquals(Self.type(of: subject)) == true else { return nil }
    }
    let name = (root?["name"] ?? root?["title"])?.string
    return ListEvent(
      subject: subject, document: change.id,
      name: title ?? (subject == .list ? root?["title"]?.string : name) ?? change.id.text,
      revision: change.revision, isDeleted: change.isDeleted,
      arrival: try view.kept(change.id, change.revision)?.arrival, former: former?.revision)
  }

  /// The live revision before a removal, and its body; nil when that is not stored any more.
  private func former(
    of change: Change, in view: any StoreView
  ) throws -> (revision: RevisionID, body: [UInt8])? {
    guard let tree = try view.newest(change.id), let parent = tree[change.revision]?.parent,
      tree.nodes.indices.contains(parent)
    else { return nil }
    let node = tree.nodes[parent]
    guard !node.isDeleted, let body = try view.body(change.id, of: node, in: tree) else {
      return nil
    }
    return (node.revision, body)
  }

  private static func type(of subject: ListEvent.Subject) -> String {
    switch subject {
    case .list: ListDocument.type
    case .note: ListNote.type
    case .hotel: Hotel.type
    }
  }
}
