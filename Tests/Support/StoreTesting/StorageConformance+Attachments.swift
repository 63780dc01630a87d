import Documents
package import Stores

extension StorageConformance {
  /// Claims about attachments, whose bytes every engine keeps as notes of the store.
  static let attachments: [Claim] = [
    Claim("the bytes of an attachment are read by ranges, and found by their SHA-1") { bench in
      try await bench.withDocuments { store in
        let bytes = AttachedBytes.some(200_000)
        let id = try DocumentID("a")
        let revision = try await store.attach(bytes, to: id)
        let facts = try await store.facts(id, revision)
        try require(facts.length, is: 200_000, "the length")
        for range: Range<Int64> in [0..<1, 65_535..<65_537, 131_072..<200_000, 199_999..<200_000] {
          let found = try await store.bytes(range, of: facts)
          try require(
            found == Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)]), "\(range)")
        }
        let known = try await store.read { view in try view.attachment(sha1: facts.sha1) }
        try require(known?.key, is: facts.key, "by SHA-1")
        try require(try await store.attached(), is: 200_000, "counted")
      }
    },
    Claim("the same bytes are stored once, whoever sends them") { bench in
      try await bench.withDocuments { store in
        let bytes = AttachedBytes.some(100_000)
        let (one, two) = (try DocumentID("a"), try DocumentID("b"))
        let first = try await store.attach(bytes, to: one)
        let second = try await store.attach(bytes, to: two, inParts: true)
        try require(try await store.attached(), is: 100_000, "counted once")
        let facts = try await store.facts(two, second)
        try require(facts.documents, is: 2, "documents")
        try await store.purge(one, first)
        try require(try await store.bytes(0..<100_000, of: facts) == bytes, "still there")
        try await store.purge(two, second)
        try require(try await store.attached(), is: 0, "freed")
        try require(try await store.pieces(), is: 0, "pieces")
      }
    },
    Claim("bytes are kept as long as a kept body names them") { bench in
      try await bench.withDocuments { store in
        let id = try DocumentID("a")
        let first = try await store.attach(AttachedBytes.some(70_000), to: id)
        var last = try await store.put(id, base: first, body: .empty)
        try require(try await store.attached(), is: 70_000, "an ancestor names them")
        for number in 0..<StoreLimits.storedAncestors - 1 {
          let body = try DocumentBody(parsing: Array("{\"n\":\(number)}".utf8))
          last = try await store.put(id, base: last, body: body)
        }
        let body = try await store.read { view in try view.body(id, first) }
        try require(body != nil, "the first body is the oldest one that is kept")
        try require(try await store.attached(), is: 70_000, "it names them")
        try await store.put(id, base: last, body: .empty)
        try require(
          try await store.read { view in try view.body(id, first) }, is: nil, "it is gone")
        try require(try await store.attached(), is: 0, "freed with it")
        try require(try await store.pieces(), is: 0, "pieces")
      }
    },
    Claim("an edit that takes an attachment over keeps its bytes") { bench in
      try await bench.withDocuments { store in
        let id = try DocumentID("a")
        let first = try await store.attach(AttachedBytes.some(10), to: id)
        let bytes = try await store.read { view in try view.body(id, first) ?? [] }
        let next = try DocumentBody(parsing: Array(#"{"edited":true}"#.utf8))
          .with(DocumentBody(readingBack: bytes).attachments)
        let second = try await store.put(id, base: first, body: next)
        try await store.update(loading: [id]) { changes in changes.dropHistory(of: id) }
        let facts = try await store.facts(id, second)
        try require(
          try await store.bytes(0..<10, of: facts) == AttachedBytes.some(10),
          "of the first revision")
      }
    },
    Claim("an edit writes the names of an attachment's revision only if they are new") { bench in
      try await bench.withDocuments { store in
        let id = try DocumentID("a")
        let (first, stubs) = try await store.attach(100, to: id)
        var last = first
        for number in 0..<3 {
          let body = try DocumentBody(parsing: Array("{\"n\":\(number)}".utf8)).with(stubs)
          last = try await store.put(id, base: last, body: body)
        }
        try require(try await store.count(LocalID.attachmentNamesPrefix), is: 1, "shared")
        let record = try await store.read { view in try view.local(LocalID(receipt: "attached/a")) }
        try require((1..<1_000).contains(record?.body.count ?? 0), "the record has no names")
        let keys = try await store.read { [last] view in
          try [first, last].map { try view.attachmentKeys(of: id, $0) }
        }
        try require(keys[0] == keys[1], "the same attachments")
        try require(keys[0].count, is: 100, "all of them")
        last = try await store.put(id, base: last, body: .empty.with(stubs.dropLast()))
        try require(try await store.count(LocalID.attachmentNamesPrefix), is: 2, "one is gone")
        try require(try await store.attached(), is: 5_050, "but its revisions are kept")
        try await store.update(loading: [id]) { changes in changes.dropHistory(of: id) }
        try require(try await store.count(LocalID.attachmentNamesPrefix), is: 1, "of the leaf")
        try require(try await store.attached(), is: 4_950, "freed")
        try await store.purge(id, last)
        try require(try await store.count(LocalID.attachmentNamesPrefix), is: 0, "purged")
        try require(try await store.attached(), is: 0, "all freed")
      }
    },
    Claim("nothing stays of the attachments of a revision that is not kept") { bench in
      try await bench.withDocuments { store in
        let id = try DocumentID("a")
        let (stubs, contents) = try await store.files(10)
        let body = try DocumentBody.empty.with(stubs)
        try await store.update(loading: [id], as: .server) { changes in
          changes.keepsHistory = false
          var edits = DocumentEdits(id, in: nil, limit: .standard)
          let first = try edits.put(base: nil, body: body, isDeleted: false)
          _ = try edits.put(base: first, body: .empty, isDeleted: false)
          changes.write(edits.finish())
          try changes.attach(contents, to: AttachedRevision(id: id, revision: first))
        }
        try require(try await store.count(LocalID.attachmentNamesPrefix), is: 0, "names")
        try require(try await store.attached(), is: 0, "bytes")
        try require(try await store.pieces(), is: 0, "pieces")
      }
    },
    Claim("an attachment that lacks a piece is forgotten by a repair, and can be sent again") {
      bench in
      try await bench.withDocuments { store in
        let bytes = AttachedBytes.some(200_000)
        let (one, two) = (try DocumentID("a"), try DocumentID("b"))
        let first = try await store.attach(bytes, to: one)
        try await store.losePiece()
        try require(try await store.repair().lostAttachments, is: 1, "lost")
        try require(
          try await store.read { view in try view.attachmentKeys(of: one, first).isEmpty },
          "the document names nothing that is not here")
        try require(try await store.attached(), is: 0, "freed")
        try require(try await store.pieces(), is: 0, "pieces")
        try require(try await store.repair().lostAttachments, is: 0, "once")
        let facts = try await store.facts(two, try await store.attach(bytes, to: two))
        try await store.purge(one, first)
        try require(try await store.bytes(0..<200_000, of: facts) == bytes, "sent again")
        try await store.losePiece(andCount: true)
        try require(try await store.repair().lostAttachments, is: 1, "without a count of bytes")
      }
    },
    Claim("bytes whose SHA-1 was lost are found by it after a repair, and when they come again") {
      bench in
      try await bench.withDocuments { store in
        let bytes = AttachedBytes.some(70_000)
        let (one, two) = (try DocumentID("a"), try DocumentID("b"))
        let facts = try await store.facts(one, try await store.attach(bytes, to: one))
        for isRepaired in [true, false] {
          try await store.update(as: .server) { changes in
            let id = LocalID(receipt: "attachment-sha1/" + Hex.string(facts.sha1))
            changes.write(LocalEdit(id, nil))
          }
          if isRepaired {
            try require(try await store.repair().lostAttachments, is: 0, "no bytes are lost")
          } else {
            _ = try await store.attach(bytes, to: two)
          }
          let found = try await store.read { view in try view.attachment(sha1: facts.sha1) }
          try require(found?.key, is: facts.key, "after a repair: \(isRepaired)")
        }
      }
    },
    Claim("bytes that come again take the place of incomplete ones, for all documents") { bench in
      for inParts in [false, true] {
        try await bench.withDocuments { store in
          let bytes = AttachedBytes.some(200_000)
          let (one, two) = (try DocumentID("a"), try DocumentID("b"))
          let first = try await store.attach(bytes, to: one)
          try await store.losePiece()
          let second = try await store.attach(bytes, to: two, inParts: inParts)
          try require(try await store.repair().lostAttachments, is: 0, "nothing is incomplete")
          for (id, revision) in [(one, first), (two, second)] {
            let facts = try await store.facts(id, revision)
            try require(
              try await store.bytes(0..<200_000, of: facts) == bytes, "all bytes of \(id)")
          }
          try await store.purge(one, first)
          try require(try await store.pieces(), is: 4, "the other document keeps them")
          try await store.purge(two, second)
          try require(try await store.pieces(), is: 0, "pieces")
          try require(try await store.attached(), is: 0, "counted once")
        }
      }
    },
    Claim("attachments whose document does not come are removed") { bench in
      let clock = ManualClock()
      try await bench.withDocuments(clock) { store in
        var upload = try await store.upload(AttachedBytes.some(3 << 20))
        try require(upload.isBegun, "it is written in parts")
        try require(try await store.attached() > 1 << 20, "and counted")
        await store.discard(upload)
        try require(try await store.attached(), is: 0, "discarded")
        upload = AttachmentUpload(limit: 8 << 20)
        for _ in 0..<3 {
          try upload.append(AttachedBytes.some(2 << 20))
          try await store.write(&upload, as: .server)
          clock.advance(by: .seconds(AttachmentLimits.abandonedSeconds - 1))
          try await store.removeAbandonedAttachments()
          try require(try await store.attached() > 0, "it arrives slowly")
        }
        await store.discard(upload)
        upload = try await store.upload(AttachedBytes.some(3 << 20))
        try await store.removeAbandonedAttachments()
        try require(try await store.attached() > 0, "it may still be arriving")
        clock.advance(by: .seconds(AttachmentLimits.abandonedSeconds + 1))
        try await store.removeAbandonedAttachments()
        try require(try await store.pieces(), is: 0, "abandoned")
        try require(try await store.attached(), is: 0, "and no longer counted")
      }
    },
    Claim("attachments count for the quota") { bench in
      try await bench.withDocuments(limits: StoreLimits(documents: 10, bytes: 100_000)) { store in
        let first = try await store.attach(AttachedBytes.some(60_000), to: try DocumentID("a"))
        for inParts in [false, true] {
          do {
            _ = try await store.attach(
              AttachedBytes.some(60_001), to: try DocumentID("b"), inParts: inParts)
            throw ConformanceFailure(description: "Taken beyond the quota")
          } catch let error as ServiceError where error.code == .quotaExceeded {}
        }
        let long = #"{"x":"\#(String(repeating: "x", count: 40_000))"}"#
        do {
          _ = try await store.put(
            DocumentID("c"), base: nil, body: DocumentBody(parsing: Array(long.utf8)))
          throw ConformanceFailure(description: "A document was taken beyond the quota")
        } catch let error as ServiceError where error.code == .quotaExceeded {}
        try await store.delete(try DocumentID("a"), base: first)
        try require(try await store.attached(), is: 60_000, "history keeps them")
      }
    },
  ]
}

extension StorageConformance {
  /// Checks that bytes which come again take the place of those with a damaged piece, for all documents, without a repair,
  /// which would take the bytes from the documents that had them. Each engine's tests damage them in their own way.
  /// - Parameter damage: changes the bodies of local documents below `receipt/piece/`, and returns the store.
  package static func requireReplacement(
    in storage: any StoreStorage, damaging damage: () async throws -> any StoreStorage
  ) async throws -> any StoreStorage {
    // No call repairs the accounts' store.
    let store = { (storage: any StoreStorage) in
      DocumentStore(name: .system, storage: storage, limits: .full, now: { .start })
    }
    let (one, two, bytes) = (try DocumentID("a"), try DocumentID("b"), AttachedBytes.some(200_000))
    let first = try await store(storage).attach(bytes, to: one)
    let damaged = try await damage()
    let second = try await store(damaged).attach(bytes, to: two)
    for (id, revision) in [(one, first), (two, second)] {
      let facts = try await store(damaged).facts(id, revision)
      let found = try await store(damaged).bytes(0..<200_000, of: facts)
      try require(found == bytes, "all bytes of \(id)")
    }
    try require(try await store(damaged).pieces(), is: 4, "pieces")
    return damaged
  }
}

/// Bytes of attachments of tests.
enum AttachedBytes {
  /// Bytes that differ from each other and from those of another count.
  static func some(_ count: Int) -> [UInt8] {
    var bytes = (0..<min(count, 1 << 16)).map {
      UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 8 ^ count)
    }
    while bytes.count < count { bytes += bytes.prefix(count - bytes.count) }
    return bytes
  }
}

extension StorageBench {
  fileprivate func withDocuments(
    _ clock: ManualClock = ManualClock(), limits: StoreLimits = .full,
    _ use: (DocumentStore) async throws -> Void
  ) async throws {
    try await withStorage { storage in
      try await use(
        DocumentStore(
          name: Self.name, storage: storage, limits: limits,
          now: { .start.adding(seconds: clock.now.offset.components.seconds) }))
    }
  }
}

extension DocumentStore {
  /// Sends bytes as they would arrive; what has arrived is written as soon as it is enough.
  fileprivate func upload(
    _ bytes: [UInt8], inParts: Bool = false
  ) async throws -> AttachmentUpload {
    var upload = AttachmentUpload(limit: .max)
    for start in stride(from: 0, to: bytes.count, by: 50_000) {
      try upload.append(Array(bytes[start..<min(start + 50_000, bytes.count)]))
      if inParts || upload.isFull { try await write(&upload, as: .server) }
    }
    return upload
  }

  /// Removes the last piece of all attachments.
  /// - Parameter andCount: whether to remove what counts the bytes of attachments, too.
  fileprivate func losePiece(andCount: Bool = false) async throws {
    try await update(as: .server) { changes in
      var last: LocalID?
      try changes.view.locals(.below(LocalID.piecePrefix)) { id, _ in
        last = id
        return true
      }
      if let last { changes.write(LocalEdit(last, nil)) }
      if andCount { changes.write(LocalEdit(LocalID(receipt: "attachments"), nil)) }
    }
  }

  /// Writes a document with the attachment `file`.
  fileprivate func attach(
    _ bytes: [UInt8], to id: DocumentID, inParts: Bool = false
  ) async throws -> RevisionID {
    var upload = try await upload(bytes, inParts: inParts)
    if upload.isBegun { try await write(&upload, isLast: true, as: .server) }
    let new = upload.finish()
    let name = try AttachmentName("file")
    let body = try DocumentBody.empty.with([
      AttachmentStub(
        name: name, contentType: "text/plain", generation: 1, digest: new.facts.digest,
        length: new.facts.length)
    ])
    return try await update(loading: [id], as: .server) { changes in
      let revision = try changes.put(id, base: nil, body: body)
      try changes.attach([name: .new(new)], to: AttachedRevision(id: id, revision: revision))
      return revision
    }
  }

  /// What is known of the attachment of a revision.
  fileprivate func facts(_ id: DocumentID, _ revision: RevisionID) async throws -> AttachmentFacts {
    let found = try await read { view in
      try view.attachmentKeys(of: id, revision).values.first.flatMap { try view.attachment($0) }
    }
    return try required(found, "an attachment of \(id)")
  }

  fileprivate func bytes(
    _ range: Range<Int64>, of facts: AttachmentFacts
  ) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < range.count {
      let start = range.lowerBound + Int64(bytes.count)
      bytes += try await read { view in try view.bytes(start..<range.upperBound, of: facts) }
    }
    return bytes
  }

  fileprivate func attached() async throws -> Int64 {
    try await read { view in try view.attachmentBytes() }
  }

  /// How many pieces are stored.
  fileprivate func pieces() async throws -> Int { try await count(LocalID.piecePrefix) }

  /// How many notes with a prefix are stored.
  fileprivate func count(_ prefix: String) async throws -> Int {
    try await read { view in try view.localIDs(.below(prefix)) { $0 }.count }
  }

  /// Attachments of 1 byte, 2 bytes and so on.
  fileprivate func files(
    _ count: Int
  ) async throws -> (stubs: [AttachmentStub], contents: [AttachmentName: AttachmentContent]) {
    var (stubs, contents) = ([AttachmentStub](), [AttachmentName: AttachmentContent]())
    for number in 1...count {
      let new = try await upload(AttachedBytes.some(number)).finish()
      let name = try AttachmentName("file\(number)")
      contents[name] = .new(new)
      stubs.append(
        AttachmentStub(
          name: name, contentType: "text/plain", generation: 1, digest: new.facts.digest,
          length: new.facts.length))
    }
    return (stubs, contents)
  }

  /// Writes a document with ``files(_:)``.
  fileprivate func attach(
    _ count: Int, to id: DocumentID
  ) async throws -> (revision: RevisionID, stubs: [AttachmentStub]) {
    let (stubs, contents) = try await files(count)
    let body = try DocumentBody.empty.with(stubs)
    let revision = try await update(loading: [id], as: .server) { changes in
      let revision = try changes.put(id, base: nil, body: body)
      try changes.attach(contents, to: AttachedRevision(id: id, revision: revision))
      return revision
    }
    return (revision, stubs)
  }

  fileprivate func purge(_ id: DocumentID, _ revision: RevisionID) async throws {
    try await update(loading: [id], as: .server) { changes in
      guard let tree = try changes.tree(id) else { return }
      changes.purge(Purge(id: id, tree: tree.purging([revision])))
    }
  }
}
