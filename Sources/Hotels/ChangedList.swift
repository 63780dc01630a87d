import Documents
import Scheduling
import Stores

/// What an edit changes of the list, and asks of it.
struct ListChange: Sendable, Equatable {
  /// Ids that leave their positions.
  var leaving: Set<HotelID> = []
  /// Ids that are appended.
  var joining: [HotelID] = []
  /// Bookmarks that return to their former positions.
  var returning: [Returning] = []
  /// Ids whose former positions the edit needs.
  var located: Set<HotelID> = []
  /// The list that takes the place of the present one.
  var former: FormerList?
  /// Members of the document that come or go beside `hotels`; see ``HotelFacts/merged(into:former:facts:)``.
  var members: Members?

  struct Members: Sendable, Equatable {
    var former = Array("{}".utf8)
    var facts = Array("{}".utf8)
  }

  struct Returning: Sendable, Equatable {
    let id: HotelID
    let position: BookmarkPosition
  }

  /// Whether a list that becomes too long refuses the change.
  var isAddition: Bool { !joining.isEmpty || !returning.isEmpty || former != nil }
  /// Whether the list stays as it is.
  var isNone: Bool { leaving.isEmpty && !isAddition && members == nil }
}

/// A list that is restored.
struct FormerList: Sendable, Equatable {
  let revision: RevisionID
  let list: BookmarkList
  /// Its ids whose hotels can't be restored.
  var missing: Set<HotelID> = []

  static func == (left: FormerList, right: FormerList) -> Bool {
    left.revision == right.revision && left.missing == right.missing
  }
}

/// The list that a change leaves, as a body to store. It is made in steps of some milliseconds for the longest list, so that
/// others can compute between two of them.
struct ChangedList {
  /// How many ids a step looks at.
  private static let idsAtOnce = 8_192

  let lists: ListReconciliation
  let change: ListChange
  private var step = Step.located(0)
  private var next = BookmarkList()
  /// The body that the new one replaces, with the members that the new one has.
  private var replaced: [UInt8]?
  /// How many ids of merged lists do not fit.
  private(set) var leftOut = 0
  /// The body; nil for a list that does not change.
  private(set) var body: DocumentBody?
  /// The positions that the change asks for.
  private(set) var positions: [HotelID: BookmarkPosition] = [:]
  /// The ids that only the present list has, and those that only the one that is restored has, each in their order.
  private(set) var difference: (going: [HotelID], coming: [HotelID]) = ([], [])

  private enum Step {
    case going(Int), coming(Int), located(Int), removed, returned, appended, measured
    /// The texts of the first ids, and how many bytes they may have.
    case listed(Int, text: [UInt8], room: Int)
    case written([UInt8])
    case parsed([UInt8])
    case read(DocumentBodyReader)
    case complete
  }

  init(_ lists: ListReconciliation, _ change: ListChange) {
    (self.lists, self.change) = (lists, change)
    if change.located.isEmpty { step = change.former == nil ? .removed : .going(0) }
  }

  /// Takes the next step.
  /// - Returns: whether everything is done.
  /// - Throws: `quotaExceeded` when bookmarking makes the list longer than ``BookmarkLimits/listBytes``;
  ///   ``DocumentError`` for a list that is too long to be stored.
  mutating func advance() throws -> Bool {
    step = try following(step)
    if case .complete = step { return true }
    return false
  }

  private mutating func following(_ step: Step) throws -> Step {
    let former = change.former?.list ?? BookmarkList()
    switch step {
    case .going(let first):
      let part = lists.list.hotels.dropFirst(first).prefix(Self.idsAtOnce)
      difference.going += part.filter { !former.contains($0) }
      return part.isEmpty ? .coming(0) : .going(first + part.count)
    case .coming(let first):
      let part = former.hotels.dropFirst(first).prefix(Self.idsAtOnce)
      difference.coming += part.filter { !lists.list.contains($0) }
      return part.isEmpty ? .removed : .coming(first + part.count)
    case .located(let first):
      let end = min(first + Self.idsAtOnce, lists.list.hotels.count)
      positions.merge(
        lists.list.positions(of: change.located, leaving: change.leaving, in: first..<end)
      ) { first, _ in first }
      return end < lists.list.hotels.count ? .located(end) : .removed
    case .removed:
      next = change.former == nil ? lists.list : former
      next.remove(change.former?.missing ?? change.leaving)
      return .returned
    case .returned:
      if !change.returning.isEmpty { next.insert(change.returning.map { ($0.id, $0.position) }) }
      return .appended
    case .appended:
      next.append(change.joining)
      let members = change.members.flatMap { members in
        HotelFacts.merged(
          into: lists.former ?? ListChange.Members().facts, former: members.former,
          facts: members.facts)
      }
      replaced = members?.bytes ?? lists.former
      return lists.isSettled && members == nil && next == lists.list ? .complete : .measured
    case .measured:
      let empty = try BookmarkList().text(replacing: replaced).count
      return .listed(0, text: [], room: BookmarkLimits.listBytes - empty)
    case .listed(let first, var text, let room):
      let end = min(first + Self.idsAtOnce, next.hotels.count)
      if try append(first..<end, to: &text, room: room) || end == next.hotels.count {
        return .written(text)
      }
      return .listed(end, text: text, room: room)
    case .written(let ids): return .parsed(try BookmarkList.text(of: ids, replacing: replaced))
    case .parsed(let text):
      let root: JSONNode
      do { root = try ParsedJSON(text, limits: .request).root } catch { throw DocumentError(error) }
      return .read(try DocumentBodyReader(root, attachments: true))
    case .read(var reader):
      body = reader.next()
      return body == nil ? .read(reader) : .complete
    case .complete: return .complete
    }
  }

  /// Appends the texts of ids. When merged lists exceed a document's limit, the first ids are written: the winner's before
  /// those that other lists add. Hotels whose ids are left out keep their documents.
  /// - Returns: whether the rest is left out.
  private mutating func append(
    _ range: Range<Int>, to text: inout [UInt8], room: Int
  ) throws -> Bool {
    for index in range {
      let length = text.count
      if index > 0 { text.append(UInt8(ascii: ",")) }
      JSONWriter.appendString(next.hotels[index].text, to: &text)
      guard text.count > room else { continue }
      if change.isAddition { throw Self.isFull }
      guard !lists.isSettled else { continue }
      text.removeLast(text.count - length)
      leftOut = next.hotels.count - index
      return true
    }
    return false
  }

  private static let isFull = ServiceError(
    .quotaExceeded, "The list of bookmarks is full: at most \(BookmarkLimits.listBytes) bytes")
}

/// A long list that was made in slices before an update. The update only checks that its rule changes the list in the same
/// way.
struct PreparedList: Sendable {
  /// A list whose body has more bytes is prepared: 32 KiB, some 1,800 ids.
  static let shortBytes = 32 << 10
  static let shortCount = 2_000

  let change: ListChange
  /// What the list that is restored differs by.
  let difference: (going: [HotelID], coming: [HotelID])
  private let outcome: Result<ChangedList, any Error>

  /// - Throws: `ended`. Any other error is that of the change.
  init(_ lists: ListReconciliation, _ change: ListChange) async throws {
    self.change = change
    var changed = ChangedList(lists, change)
    while true {
      do {
        if try changed.advance() {
          (outcome, difference) = (.success(changed), changed.difference)
          return
        }
      } catch {
        (outcome, difference) = (.failure(error), changed.difference)
        return
      }
      try await Slice.giveWay()
    }
  }

  /// - Throws: the error of the change.
  func made() throws -> ChangedList { try outcome.get() }

  /// The error of a rule whose change is not prepared.
  struct Missing: Error { let change: ListChange }
}
