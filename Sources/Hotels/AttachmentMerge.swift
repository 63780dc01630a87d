import Documents

/// The rule that merges the attachments of two revisions, by name: a three-way merge against those of their common
/// revision. Nothing that either side added or changed is lost. Where both have different bytes under one name, the first
/// side's keep the name, and the other's get another one.
struct AttachmentMerge {
  /// The merged attachments: the first side's in their order, and then those of the other.
  private(set) var stubs: [AttachmentStub]
  /// Which attachment of the other side a merged one is, by the merged one's name.
  private(set) var taken: [AttachmentName: AttachmentName] = [:]
  private let generation: Int

  /// Merges attachments.
  /// - Parameter own: the first side's.
  /// - Parameter former: those of the common revision; empty if there is none.
  /// - Parameter other: the other side's.
  /// - Parameter generation: that of the merged revision. What is taken from the other side gets it as `revpos`: whoever
  ///   has only the first side's revisions does not have these bytes.
  init(
    into own: [AttachmentStub], former: [AttachmentStub], other: [AttachmentStub], generation: Int
  ) {
    (stubs, self.generation) = (own, generation)
    stubs.removeAll { stub in
      Self.find(stub.name, in: other) == nil
        && Self.find(stub.name, in: former).map(stub.hasSameBytes) ?? false
    }
    for stub in other {
      let before = Self.find(stub.name, in: former)
      if before.map(stub.hasSameBytes) != true { take(stub, changedFrom: before) }
    }
  }

  /// Whether these are the attachments of the first side.
  func isUnchanged(from own: [AttachmentStub]) -> Bool { taken.isEmpty && stubs.count == own.count }

  private mutating func take(_ stub: AttachmentStub, changedFrom former: AttachmentStub?) {
    guard let index = stubs.firstIndex(where: { $0.name == stub.name }) else {
      return stubs.append(moved(stub, to: stub.name))
    }
    guard !stub.hasSameBytes(stubs[index]) else { return }
    if former.map(stubs[index].hasSameBytes) ?? false {
      stubs[index] = moved(stub, to: stub.name)
      return
    }
    for number in 2...(stubs.count + 2) {
      let name = stub.name.numbered(number)
      guard let known = Self.find(name, in: stubs) else {
        return stubs.append(moved(stub, to: name))
      }
      if stub.hasSameBytes(known) { return }
    }
  }

  private mutating func moved(_ stub: AttachmentStub, to name: AttachmentName) -> AttachmentStub {
    taken[name] = stub.name
    return AttachmentStub(
      name: name, contentType: stub.contentType, generation: generation, digest: stub.digest,
      length: stub.length)
  }

  private static func find(_ name: AttachmentName, in stubs: [AttachmentStub]) -> AttachmentStub? {
    stubs.first { $0.name == name }
  }
}

extension AttachmentName {
  /// The name with a number before its suffix: `room.jpg` becomes `room (2).jpg`. A name that would be too long is cut.
  fileprivate func numbered(_ number: Int) -> AttachmentName {
    let end = text.utf8.lastIndex(of: UInt8(ascii: "."))
    let suffix = end.map { text[$0...] } ?? ""
    // Neither a long suffix nor one of a folder is one.
    let isSuffix = suffix.utf8.count <= 16 && !suffix.utf8.contains(UInt8(ascii: "/"))
    let added = " (\(number))" + (isSuffix ? suffix : "")
    var stem = isSuffix ? text[..<(end ?? text.endIndex)] : text[...]
    while stem.utf8.count + added.utf8.count > Self.maximumBytes { stem.removeLast() }
    return AttachmentName(stored: stem + added)
  }
}
