package import Documents

/// One step of an undo: what a batch left of one bookmark, and what it was before.
///
/// `{"id","rev","former":{"rev","place","after","before"}}`, without `former` for a bookmark that the batch made. What the
/// bookmark said is in the document's history, and when it was made is kept with its tombstone.
package struct Restoration: Sendable, Equatable {
  /// The hotel.
  package let id: HotelID
  /// The revision that the batch left, a tombstone or not: where there is another, somebody has changed it since.
  package let revision: RevisionID
  /// The bookmark before the batch; nil for none.
  package let former: Former?

  /// A bookmark as it was.
  package struct Former: Sendable, Equatable {
    /// The revision of the hotel's document.
    let revision: RevisionID
    /// Where it stood.
    let place: BookmarkPlace
  }

  init(id: HotelID, revision: RevisionID, former: Former?) {
    self.id = id
    self.revision = revision
    self.former = former
  }

  /// Reads a step as ``append(to:)`` wrote it; nil for anything else.
  init?(_ node: JSONNode) {
    guard Self.has(only: ["id", "rev", "former"], node),
      let id = node["id"]?.string.flatMap({ HotelID($0) }), let revision = Self.revision(node)
    else { return nil }
    self.init(id: id, revision: revision, former: node["former"].flatMap { Former($0) })
    if node["former"] != nil, former == nil { return nil }
  }

  /// Appends the step.
  func append(to bytes: inout [UInt8]) {
    bytes += #"{"id":"#.utf8
    JSONWriter.appendString(id.text, to: &bytes)
    bytes += #","rev":"\#(revision.description)""#.utf8
    if let former {
      let place = former.place
      bytes += #","former":{"rev":"\#(former.revision.description)","place":\#(place.number)"#.utf8
      for (name, id) in [("after", place.after), ("before", place.before)] {
        guard let id else { continue }
        bytes += #","\#(name)":"#.utf8
        JSONWriter.appendString(id.text, to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
    bytes.append(UInt8(ascii: "}"))
  }

  fileprivate static func has(only names: [String], _ node: JSONNode) -> Bool {
    node.members.allSatisfy { member in names.contains { member.nameEquals($0) } }
  }

  fileprivate static func revision(_ node: JSONNode) -> RevisionID? {
    node["rev"]?.string.flatMap { try? RevisionID($0) }
  }
}

extension Restoration.Former {
  fileprivate init?(_ node: JSONNode) {
    let neighbours = ["after", "before"].map { node[$0] }
    let ids = neighbours.map { $0?.string.flatMap { HotelID($0) } }
    guard Restoration.has(only: ["rev", "place", "after", "before"], node),
      zip(neighbours, ids).allSatisfy({ ($0 != nil) == ($1 != nil) }),
      let revision = Restoration.revision(node), let place = node["place"]?.int,
      (0...BookmarkCursor.maximumPlace).contains(place)
    else { return nil }
    self.init(
      revision: revision, place: BookmarkPlace(number: place, after: ids[0], before: ids[1]))
  }
}
