import Documents
import Scheduling
package import Stores

/// Why a device's revision was refused, in words that can be kept.
struct Refusal: Sendable {
  /// The word of the error, as `/couch` says it.
  let word: String
  let reason: String
  /// Whether the same revision can pass later, without a change.
  let canPass: Bool
  /// Whether the person may not write such a document, whatever it contains.
  let lacksRight: Bool
  /// Whether the store has the revision with another body.
  let collides: Bool
  let device: DeviceLabel?
  let time: Timestamp

  /// Describes an error.
  init(
    _ error: ServiceError, saying word: (ServiceError.Code) -> String, from device: DeviceLabel?,
    at time: Timestamp
  ) {
    (self.word, reason) = (word(error.code), error.reason)
    canPass = error.code == .quotaExceeded
    lacksRight = error.code == .noRight
    collides = error.code == .revisionCollision
    (self.device, self.time) = (device, time)
  }
}

extension ServiceError {
  /// Whether the error is about the revision that is written. A client that hangs up, or a storage that fails, says
  /// nothing of it: the same revision comes again.
  var isOfRevision: Bool {
    !code.isOfStorage && ![.ended, .moved, .overloaded, .outcomeUnknown].contains(code)
  }
}

/// A write that was refused.
struct RefusedWrite: Sendable {
  let write: DocumentWrite
  let error: ServiceError
  /// Whether the write has the document's body; that of one that can't be stored is missing.
  let isWhole: Bool
  /// Whether it is kept: not after an error that passes, nor after one after which a client comes again with another
  /// revision or with more.
  var isKept: Bool { error.isOfRevision && ![.conflict, .missingStub].contains(error.code) }

  init(write: DocumentWrite, error: ServiceError) {
    (self.write, self.error, isWhole) = (write, error, true)
  }

  /// What is known of a revision that is no document that could be stored.
  /// - Returns: nil without an id and a revision that could be stored.
  init?(of id: String?, _ revision: String?, _ error: ServiceError) {
    guard let id = id.flatMap({ try? DocumentID($0) }),
      let revision = revision.flatMap({ try? RevisionID($0) })
    else { return nil }
    write = DocumentWrite(of: id, .empty, isDeleted: false, [revision])
    (self.error, isWhole) = (error, false)
  }
}

/// Keeping refused revisions.
extension CouchDatabase {
  /// Keeps why a device's revision was refused that is no document that could be stored.
  package func keepRefusal(of id: String?, _ revision: String?, _ error: ServiceError) async {
    if let write = RefusedWrite(of: id, revision, error) { await keep([write]) }
  }

  /// Keeps what was refused of a device's revisions. Nothing is kept if there is no room for that either.
  func keep(_ refused: [RefusedWrite]) async {
    let refused = refused.filter(\.isKept)
    guard !refused.isEmpty, let longestBody = RefusedRevision.longestBody(in: store),
      RefusedRevision.folder(of: context.author) != nil
    else { return }
    let (word, author, device) = (word, context.author, context.device)
    var rest = refused.suffix(RefusedRevision.most)
    while !rest.isEmpty {
      let kept = try? await store.update(as: context) { [rest] changes in
        let end = ContinuousClock.now + CouchLimits.commitTime
        var kept: [RefusedRevision] = []
        var count = 0
        for next in rest where count == 0 || ContinuousClock.now < end {
          count += 1
          let refusal = Refusal(next.error, saying: word, from: device, at: changes.time)
          let revision = RefusedRevision(
            of: next.write, try next.write.history(in: changes.view), refusal,
            longestBody: next.isWhole ? longestBody : -1)
          if let revision { kept.append(revision) }
        }
        try changes.keep(kept, of: author)
        return count
      }
      guard let kept else { return }
      rest = rest.dropFirst(kept)
      guard (try? await Slice.giveWay()) != nil else { return }
    }
  }
}

extension DocumentWrite {
  /// The revision with its ancestors, newest first; empty for one that is made here, and for one without a history.
  fileprivate func history(in view: any StoreView) throws -> [RevisionID] {
    switch kind {
    case .edit: return []
    case .replicated(let history): return history
    case .proposed:
      let tree = try view.tree(id) ?? RevisionTree()
      guard case .replicated(let history)? = try? resolved(in: tree, view).kind else { return [] }
      return history
    }
  }
}

extension StoreChanges {
  /// Keeps refused revisions, each in the place of the document's former one.
  mutating func keep(_ refused: [RefusedRevision], of author: Author) throws {
    guard let folder = RefusedRevision.folder(of: author) else { return }
    var count = try view.localUsage(of: folder).count
    for next in refused.suffix(RefusedRevision.most) {
      let id = RefusedRevision.note(of: next.id, below: folder)
      let known = try local(id).flatMap(RefusedRevision.init)
      write(next.sentAgain(after: known).edit(in: id))
      if known == nil { count += 1 }
    }
    if count > RefusedRevision.most {
      try dropOldest(Int(count) - RefusedRevision.most, below: folder)
    }
  }

  private mutating func dropOldest(_ count: Int, below folder: String) throws {
    let known = try view.localValues(.below(folder)) { id, note in (id: id, time: note.revision) }
    let written = Set(locals.map(\.id))
    let oldest = known.filter { !written.contains($0.id) }.sorted { $0.time < $1.time }
    for (id, _) in oldest.prefix(count) { write(LocalEdit(id, nil)) }
  }

  /// Writes another state of a refused revision that is kept.
  mutating func note(_ refused: RefusedRevision, of author: Author) {
    guard let folder = RefusedRevision.folder(of: author) else { return }
    write(refused.edit(in: RefusedRevision.note(of: refused.id, below: folder)))
  }

  /// Drops the refused revision of a document.
  /// - Returns: whether there was one.
  @discardableResult
  mutating func dropRefused(_ id: DocumentID, of author: Author) throws -> Bool {
    guard let folder = RefusedRevision.folder(of: author) else { return false }
    let note = RefusedRevision.note(of: id, below: folder)
    guard try local(note) != nil else { return false }
    write(LocalEdit(note, nil))
    return true
  }
}
