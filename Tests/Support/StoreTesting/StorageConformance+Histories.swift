import Documents
import Stores

extension StorageConformance {
  /// Claims about revisions, their bodies and their times.
  static let histories: [Claim] = [
    Claim("the bodies of the last twenty ancestors are kept, those of older ones are gone") {
      bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let count = StoreLimits.storedAncestors + 5
        let revisions = try await storage.putChain(id, count: count)
        for (number, revision) in revisions.enumerated() {
          let isKept = number >= count - 1 - StoreLimits.storedAncestors
          let body = try await storage.body(id, revision)
          try require(body, is: isKept ? "{\"n\":\(number)}" : nil, "body of \(revision)")
        }
        let tree = try required(try await storage.tree(id), "the tree")
        try require(tree.nodes.count, is: count, "revision ids kept")
        let unknown = try await storage.body(id, try RevisionID("9-zz"))
        try require(unknown, is: nil, "an unknown revision's body")
      }
    },
    Claim("a losing leaf keeps its body, and gives it when it comes to win") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let (loser, winner) = (try RevisionID("1-a"), try RevisionID("1-b"))
        _ = try await storage.graft(id, [winner], #"{"type":"w","from":"winner"}"#)
        let changes = try await storage.graft(id, [loser], #"{"type":"l"}"#)
        try require(changes.map(\.revision), is: [winner], "the winner in the feed")
        try require(changes.map(\.sequence), is: [2], "a losing leaf's sequence")
        try require(try await storage.body(id, loser), is: #"{"type":"l"}"#, "the loser's body")
        try require(try await storage.ids(ofType: "l"), is: [], "ids by the loser's type")
        try await storage.put(id, "{}", base: winner, isDeleted: true)
        let document = try required(try await storage.document(id), "the document")
        try require(document.revision, is: loser, "the winner now")
        try require(document.isDeleted, is: false, "deleted")
        try require(document.text, is: #"{"type":"l"}"#, "the body now")
        try require(try await storage.ids(ofType: "l"), is: ["a"], "ids by type now")
        try require(try await storage.ids(ofType: "w"), is: [], "ids by the old type")
        let info = try await storage.info()
        try require(info.documentCount, is: 1, "documents")
        try require(info.bodyBytes, is: Int64(#"{"type":"l"}"#.utf8.count), "bytes")
      }
    },
    Claim("a losing leaf keeps its body while the winner goes on") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let loser = try RevisionID("1-a")
        _ = try await storage.graft(id, [loser], #"{"lost":true}"#)
        var base = try RevisionID("1-b")
        _ = try await storage.graft(id, [base], "{}")
        for number in 0..<StoreLimits.storedAncestors + 5 {
          base = try await storage.put(id, "{\"n\":\(number)}", base: base)
        }
        try require(try await storage.body(id, loser), is: #"{"lost":true}"#, "the loser's body")
        try require(try await storage.document(id)?.revision, is: base, "the winner")
      }
    },
    Claim("several revisions of one mutation are one change, and each keeps its body") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let root = try await storage.put(id, #"{"n":0}"#)
        let count = StoreLimits.storedAncestors + 5
        let late = Timestamp(seconds: 1_800_000_100)
        let names = ["x", "y", "z"].map { RevisionID(generation: 2, digest: $0) }
        let line = try await storage.update(loading: [id], at: late) {
          changes -> [RevisionID] in
          var edits = DocumentEdits(
            id, in: try changes.tree(id), limit: HistoryLimits(revisions: 1_000))
          for (number, name) in names.enumerated() {
            _ = try edits.insert(
              [name, root], body: DocumentBody(parsing: Array("{\"b\":\(number)}".utf8)),
              isDeleted: false, known: nil)
          }
          var line = [names[2]]
          for number in 0..<count {
            let body = try DocumentBody(parsing: Array("{\"n\":\(number)}".utf8))
            line.append(try edits.put(base: line.last, body: body, isDeleted: false))
          }
          changes.write(edits.finish())
          return line
        }
        let changes = try await storage.changes(after: 1)
        try require(changes.map(\.sequence), is: [2], "the change")
        try require(changes.map(\.revision), is: [line[count]], "the winner")
        for (number, revision) in line.dropFirst().enumerated() {
          let isKept = number >= count - 1 - StoreLimits.storedAncestors
          let body = try await storage.body(id, revision)
          try require(body, is: isKept ? "{\"n\":\(number)}" : nil, "body of \(revision)")
        }
        try require(try await storage.body(id, names[0]), is: #"{"b":0}"#, "a losing leaf's body")
        try require(try await storage.body(id, names[1]), is: #"{"b":1}"#, "another's")
        try require(try await storage.body(id, names[2]), is: nil, "what was too old at once")
        let info = try await storage.info()
        try require(info.lastSequence, is: 2, "the last sequence")
        try require(info.documentCount, is: 1, "documents")
      }
    },
    Claim("a document that was a tombstone within a mutation is born again") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let first = try await storage.put(id, #"{"n":0}"#)
        let late = Timestamp(seconds: 1_800_000_100)
        try await storage.update(loading: [id], at: late) { changes in
          var edits = DocumentEdits(
            id, in: try changes.tree(id), limit: HistoryLimits(revisions: 1_000))
          let gone = try edits.put(base: first, body: .empty, isDeleted: true)
          _ = try edits.put(base: gone, body: .empty, isDeleted: false)
          changes.write(edits.finish())
        }
        try require(try await storage.document(id)?.created, is: late, "its birth")
      }
    },
    Claim("a document keeps its birth over updates and is born again after a deletion") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let times = (0..<4).map { Timestamp.start.adding(seconds: Int64($0) * 60) }
        let first = try await storage.put(id, "{}", at: times[0])
        let second = try await storage.put(id, #"{"x":1}"#, base: first, at: times[1])
        var document = try required(try await storage.document(id), "the document")
        try require(document.created, is: times[0], "birth after an update")
        try require(document.updated, is: times[1], "last change")
        let third = try await storage.put(id, "{}", base: second, isDeleted: true, at: times[2])
        try require(try await storage.document(id)?.updated, is: times[2], "the deletion")
        try await storage.put(id, "{}", base: third, at: times[3])
        document = try required(try await storage.document(id), "the document")
        try require(document.created, is: times[3], "birth after the resurrection")
      }
    },
    Claim("a birth that the writer names is kept") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let born = Timestamp.start.adding(seconds: -1_000_000)
        let first = try await storage.put(id, "{}", created: born)
        try require(try await storage.document(id)?.created, is: born, "birth")
        try require(try await storage.document(id)?.updated, is: .start, "last change")
        try await storage.put(id, #"{"x":1}"#, base: first, at: Timestamp.start.adding(seconds: 9))
        try require(try await storage.document(id)?.created, is: born, "birth after an update")
      }
    },
    Claim("each revision keeps when it came and from whom, for as long as its body") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let count = StoreLimits.storedAncestors + 3
        var revisions: [RevisionID] = []
        for number in 0..<count {
          revisions.append(
            try await storage.put(
              id, "{\"n\":\(number)}", base: revisions.last, by: try author(number),
              at: Timestamp.start.adding(seconds: Int64(number))))
        }
        for (number, revision) in revisions.enumerated() {
          let arrival = Arrival(
            time: Timestamp.start.adding(seconds: Int64(number)), author: try author(number))
          let isKept = number >= count - 1 - StoreLimits.storedAncestors
          try require(
            try await storage.kept(id, revision),
            is: isKept ? KeptRevision(arrival: arrival) : nil, "arrival of \(revision)")
        }
        try require(try await storage.kept(id, RevisionID("9-zz")), is: nil, "an unknown one's")
        try require(
          try await storage.kept(DocumentID("b"), RevisionID("1-a")), is: nil, "an unknown id's")
      }
    },
    Claim("a revision that loses, wins or is closed keeps when it came") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let (loser, winner) = (try RevisionID("1-a"), try RevisionID("1-b"))
        let (guest, late) = (try author(2), Timestamp.start.adding(seconds: 60))
        _ = try await storage.graft(id, [winner], "{}", by: guest)
        _ = try await storage.graft(id, [loser], "{}", at: late)
        let first = KeptRevision(arrival: Arrival(time: .start, author: guest))
        let second = KeptRevision(arrival: Arrival(time: late, author: .server))
        try require(try await storage.kept(id, winner), is: first, "the winner's arrival")
        try require(try await storage.kept(id, loser), is: second, "the loser's arrival")
        let gone = try await storage.put(
          id, "{}", base: winner, isDeleted: true, by: guest, at: late)
        try require(try await storage.document(id)?.revision, is: loser, "the winner now")
        try require(try await storage.kept(id, winner), is: first, "the ancestor's arrival")
        try require(try await storage.kept(id, loser), is: second, "the new winner's arrival")
        let third = KeptRevision(arrival: Arrival(time: late, author: guest))
        try require(try await storage.kept(id, gone), is: third, "the tombstone's arrival")
        let tree = try required(try await storage.tree(id), "the tree")
        try await storage.purge(id, to: tree.purging([loser]))
        try require(try await storage.kept(id, loser), is: nil, "the purged one's arrival")
        try require(try await storage.kept(id, gone), is: third, "arrival after a purge")
      }
    },
    Claim("every revision of one mutation came at once") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        let late = Timestamp.start.adding(seconds: 60)
        let root = try await storage.put(id, "{}")
        let other = try RevisionID("2-x")
        let user = try author(3)
        let last = try await storage.update(loading: [id], at: late) { changes in
          changes.author = user
          var edits = DocumentEdits(id, in: try changes.tree(id), limit: .standard)
          _ = try edits.insert([other, root], body: .empty, isDeleted: false, known: nil)
          let last = try edits.put(base: other, body: .empty, isDeleted: false)
          changes.write(edits.finish())
          return last
        }
        let came = KeptRevision(arrival: Arrival(time: late, author: user))
        for revision in [other, last] {
          try require(try await storage.kept(id, revision), is: came, "arrival of \(revision)")
        }
        let former = KeptRevision(arrival: Arrival(time: .start, author: .server))
        try require(try await storage.kept(id, root), is: former, "arrival of the one before")
      }
    },
    Claim("a tree of many branches comes back equal") { bench in
      try await bench.withStorage { storage in
        let id = try DocumentID("a")
        var wanted = RevisionTree()
        for branch in 0..<HistoryLimits.standard.liveLeaves {
          let history = try ["3-leaf\(branch)", "2-mid\(branch % 4)", "1-root"].map {
            text in try RevisionID(text)
          }
          _ = try await storage.graft(id, history, "{\"b\":\(branch)}", isDeleted: branch == 9)
          try wanted.graft(history, isDeleted: branch == 9)
        }
        try require(try await storage.tree(id), is: wanted, "the tree")
        for leaf in wanted.leaves {
          try require(
            try await storage.body(id, leaf.revision) != nil, "no body of \(leaf.revision)")
        }
      }
    },
  ]

  /// An author of each kind, by turns.
  private static func author(_ number: Int) throws -> Author {
    let account = try required(
      AccountID(String(repeating: "0", count: 30) + (number % 2 == 0 ? "7f" : "ff")), "an id")
    return [.server, .administrator, .guest(account), .user(account)][number % 4]
  }
}
