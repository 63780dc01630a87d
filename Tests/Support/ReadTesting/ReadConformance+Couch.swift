import CouchQuery
import CouchSync
import Documents
import Stores

extension ReadConformance {
  private static let keys = #"{"keys":["d11","d12","gone",7,"d12","d28","d11"]}"#

  private static let ranges = [
    "include_docs=true&conflicts=true&update_seq=true", "descending=true&skip=3",
    #"startkey="d33"&endkey="d15"&descending=true&limit=9"#,
    #"startkey="d15"&endkey="d33"&inclusive_end=false&skip=2"#,
  ]

  private static let feeds: [(query: String, body: String?)] = [
    ("style=main_only", nil), ("style=all_docs", nil), ("descending=true", nil),
    ("descending=true&style=all_docs&limit=7", nil), ("include_docs=true&limit=40", nil),
    ("include_docs=true&style=all_docs&conflicts=true", nil), ("filter=_design", nil),
    ("filter=_doc_ids", #"{"doc_ids":["d11","d14","d30","gone"]}"#),
    ("filter=_selector", #"{"selector":{"n":{"$gt":20}}}"#),
    (
      "filter=_selector&style=all_docs",
      #"{"selector":{"$or":[{"n":{"$gt":20}},{"m":{"$lt":30}}]}}"#
    ),
    ("filter=_selector&include_docs=true", #"{"selector":{"type":"t"}}"#),
  ]

  private static let asked = [
    #"{"docs":[{"id":"d12"},{"id":"d13"},{"id":"d24"},{"id":"d14"},{"id":"gone"}]}"#,
    #"""
    {"docs":[{"id":"d12","rev":"2-b"},{"id":"d13"},{"id":"d12","rev":"1-a"},{"id":"d12","rev":"2-b"},
    {"id":"gone","rev":"1-a"},{"id":"d12","rev":"x"},{"rev":"1-a"},{"id":"d24"},{"id":"d13"}]}
    """#,
  ]

  /// The reads of the CouchDB dialect, but for queries.
  static let couchReadings: [Reading] = [
    Reading("_all_docs by range") { bench in
      try await bench.answers(ranges) { database, query in
        try await database.allDocuments(AllDocumentsQuery(ReadBench.query(query)))
      }
    },
    Reading("_all_docs by keys, _local_docs, _design_docs, queries") { bench in
      let orders = ["include_docs=true&conflicts=true", "descending=true&skip=1&limit=4"]
      let byKeys = try await bench.answers(orders) { database, query in
        try await database.allDocuments(
          AllDocumentsQuery(ReadBench.query(query), body: ReadBench.json(keys)))
      }
      let scopes: [AllDocumentsQuery.Scope] = [.locals, .designs]
      let others = try await bench.answers(scopes) { database, scope in
        try await database.allDocuments(
          AllDocumentsQuery(ReadBench.query("skip=1&include_docs=true"), scope: scope))
      }
      let lists = try await bench.answers([keys]) { database, keys in
        try await database.allDocuments(
          AllDocumentsQuery.list(
            ReadBench.json(#"{"queries":[{"skip":2,"limit":7},\#(keys),{"descending":true}]}"#),
            scope: .everything))
      }
      return byKeys + others + lists
    },
    Reading("_changes") { bench in
      try await bench.answers(feeds) { database, feed in
        let body = try feed.body.map { try ReadBench.json($0) }
        return try await database.changes(
          ChangesQuery(ReadBench.query(feed.query), body: body).prepared()
        ).answer
      }
    },
    Reading("_changes page by page") { bench in
      try await bench.couch { database in
        var (answers, since): ([[UInt8]], String) = ([], "0")
        while true {
          let page = try await database.changes(
            ChangesQuery(ReadBench.query("since=\(since)&limit=7&style=all_docs")))
          guard !page.rows.isEmpty else { return answers }
          answers.append(page.answer.body)
          since = page.last.text
        }
      }
    },
    Reading("_bulk_get") { bench in
      let wanted = asked.flatMap { body in
        ["revs=true", "latest=true", "revs=true&latest=true"].map { (body: body, query: $0) }
      }
      return try await bench.answers(wanted) { database, wanted in
        try await database.bulkGet(
          BulkGetRequest(ReadBench.json(wanted.body), ReadBench.query(wanted.query)))
      }
    },
    Reading("open_revs, a document with its extras, _revs_diff") { bench in
      let names = try ["2-b", "1-a", "9-z", "2-b"].map { try NamedRevision($0) }
      let some = OpenRevisions.these(names)
      let extras = try DocumentQuery(ReadBench.query("revs=true&revs_info=true"))
      let forms: [OpenRevisions.Form] = [.json, .multipart(boundary: "0123456789", inner: "a")]
      let open = try await bench.answers(forms) { database, form in
        let all = try await database.openRevisions(DocumentID("d24"), .all, extras, as: form)
        let these = try await database.openRevisions(DocumentID("d12"), some, extras, as: form)
        return CouchAnswer(all.body + these.body)
      }
      let documents = try await bench.answers(["d12", "d24", "d13"]) { database, id in
        try await database.document(
          DocumentID(id), DocumentQuery(ReadBench.query("meta=true&revs=true&local_seq=true")))
      }
      let sent = [#"{"d10":["2-b","9-x"],"d11":[],"d12":["1-a"],"new":["1-a"],"d13":["8-y"]}"#]
      let missing = try await bench.answers(sent) { database, body in
        let request = try await RevisionsRequest(ReadBench.json(body))
        return try await CouchAnswer(
          database.revisionsDifference(request).body + database.missingRevisions(request).body)
      }
      return open + documents + missing
    },
  ]

  /// Queries. The first one that uses an index builds it.
  static let queries: [Reading] = [
    Reading("_find", writes: true) { bench in
      let bodies = [
        #"{"selector":{"type":"t"},"skip":1}"#, #"{"selector":{"n":{"$gt":15}},"sort":["n"]}"#,
        #"{"selector":{"n":{"$lt":35}},"sort":[{"n":"desc"}],"limit":9}"#,
        #"{"selector":{"m":{"$exists":true}},"conflicts":true}"#,
        #"{"selector":{"_id":{"$in":["d13","d12","gone"]}}}"#,
        #"{"selector":{"n":{"$gt":15}},"fields":["n"]}"#,
      ]
      return try await bench.answers(bodies) { database, body in
        try await database.find(FindRequest(ReadBench.json(body)))
      }
    }
  ]
}
