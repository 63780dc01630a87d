import Documents

/// The attachments that a hotel has after two versions of it become one.
///
/// They are found by name. What one side has added stays, and what one side has removed goes. Where both have changed the
/// attachment of a name, the first side's stays; the other can be read by its revision.
enum AttachmentMerge {
  /// Merges a second version's attachments into a body.
  /// - Parameter former: the attachments of the version from which both come; empty for none.
  /// - Parameter generation: that of the merged revision, in which the second version's attachments come.
  /// - Returns: nil when nothing changes.
  /// - Throws: ``DocumentError`` with code `tooLarge`.
  static func merged(
    _ others: [AttachmentStub], into body: DocumentBody, former: [AttachmentStub],
    generation: Int
  ) throws -> DocumentBody? {
    let own = body.attachments
    guard !own.isEmpty || !others.isEmpty else { return nil }
    func stub(_ name: AttachmentName, of stubs: [AttachmentStub]) -> AttachmentStub? {
      stubs.first { $0.name == name }
    }
    var merged: [AttachmentStub] = []
    for present in own {
      let before = stub(present.name, of: former)
      guard let before, before.hasSameContent(as: present) else {
        merged.append(present)
        continue
      }
      guard let other = stub(present.name, of: others) else { continue }
      merged.append(other.hasSameContent(as: present) ? present : other.coming(in: generation))
    }
    for other in others where stub(other.name, of: own) == nil {
      if let before = stub(other.name, of: former), before.hasSameContent(as: other) { continue }
      if merged.count < IncomingAttachment.most { merged.append(other.coming(in: generation)) }
    }
    return merged == own ? nil : try body.with(merged)
  }
}

extension AttachmentStub {
  /// Whether two have the same bytes and the same type.
  fileprivate func hasSameContent(as other: AttachmentStub) -> Bool {
    digest.equalsBytes(of: other.digest) && contentType.equalsBytes(of: other.contentType)
  }

  /// The same as a new one of a revision, so that peers with earlier revisions ask for its bytes.
  fileprivate func coming(in generation: Int) -> AttachmentStub {
    AttachmentStub(
      name: name, contentType: contentType, generation: generation, digest: digest, length: length)
  }
}
