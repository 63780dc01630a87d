import Documents
import Foundation
import Hotels
import SQLiteEngine
import Stores

/// Measures edits in a loop within one process: the work of a store's thread for each edit, without a network.
///
///     EditLoop DIRECTORY edit|bookmark|peer DOCUMENTS BEFORE COUNT
///
/// Edits each of DOCUMENTS documents of one store in DIRECTORY BEFORE times. Then measures COUNT edits, which take the
/// documents in turn.
///
/// With `edit`, each edit writes a document's next revision. With `bookmark`, the documents are hotels of one list;
/// each edit adds a hotel's bookmark or removes it, and so edits the list, too. With `peer`, each edit inserts a
/// revision with its whole history, as a replicator does.
@main
struct EditLoop {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 5, let numbers = numbers(arguments.suffix(3)),
      let user = AccountID(String(repeating: "a", count: 32))
    else {
      return print("EditLoop DIRECTORY edit|bookmark|peer DOCUMENTS BEFORE COUNT")
    }
    let values = Array(arguments)
    let engine = try await FileEngine.open(directory: values[0], threads: 2)
    let clock: @Sendable () -> Timestamp = { Timestamp(seconds: 1_800_000_000) }
    let stores = DatabaseManager(engine: engine, maximumOpen: 4, now: clock)
    let edits = Edits(
      stores: stores, hotels: HotelService(stores: stores, now: clock), store: .user(user))
    for _ in 0..<numbers[1] {
      for document in 0..<numbers[0] { try await edits.edit(document, values[1]) }
    }
    let (begun, before) = (ContinuousClock.now, Self.spent())
    for edit in 0..<numbers[2] { try await edits.edit(edit % numbers[0], values[1]) }
    let (took, after, count) = (ContinuousClock.now - begun, Self.spent(), max(numbers[2], 1))
    print(
      "\(took / count) each, processor \((after.user - before.user) / count) +",
      "\((after.system - before.system) / count) µs,",
      "written \((after.bytes - before.bytes) / count) bytes")
    await stores.close()
    await engine.close()
  }

  /// The processor time of the process so far in microseconds, in user mode and in the kernel, and the bytes that it
  /// has written (proc_pid_io(5)).
  private static func spent() -> (user: Int, system: Int, bytes: Int) {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let times = [usage.ru_utime, usage.ru_stime].map { $0.tv_sec * 1_000_000 + Int($0.tv_usec) }
    let line = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8))?
      .split(separator: "\n").first { $0.hasPrefix("wchar:") }
    return (times[0], times[1], line.flatMap { Int($0.dropFirst(7)) } ?? 0)
  }

  private static func numbers(_ texts: some Collection<String>) -> [Int]? {
    let numbers = texts.compactMap { Int($0) }.filter { $0 >= 0 }
    return numbers.count == texts.count && numbers.first != 0 ? numbers : nil
  }

  /// The edits, which run one after another.
  struct Edits {
    /// The database manager of the stores.
    let stores: DatabaseManager
    /// The service that bookmarks hotels.
    let hotels: HotelService
    /// The name of the store that is edited.
    let store: StoreName

    /// Edits a document. With `bookmark`, removes the bookmark of a hotel that has one, and bookmarks any other hotel.
    func edit(_ number: Int, _ kind: String) async throws {
      guard kind == "bookmark" else {
        let id = try DocumentID("document-\(number)")
        return kind == "peer" ? try await replicate(id) : try await edit(id)
      }
      guard let id = HotelID("hotel-\(number)") else { return }
      if try await hotels.unbookmark(id, in: store, as: .server) != nil { return }
      let facts = #"{"id":"hotel-\#(number)","name":"Medway Youth Hostel","city":"Medway"}"#
      let hotel = try Hotel(
        ParsedJSON(Array(facts.utf8), limits: .request).root, from: .client)
      _ = try await hotels.bookmark(HotelAddition(facts: hotel), in: store, as: .server)
    }

    private func replicate(_ id: DocumentID) async throws {
      try await stores.update(store, loading: [id], as: .server) { changes in
        let tree = try changes.view.tree(id)
        let parent = tree?.winner?.revision
        let body = try DocumentBody(
          parsing: Array(#"{"count":\#(parent?.generation ?? 0)}"#.utf8))
        let history = parent.flatMap { tree?.history(of: $0) } ?? []
        changes.write(
          try Edit.insert(
            id, in: tree, history: [body.revision(below: parent, isDeleted: false)] + history,
            body: body, isDeleted: false, known: nil, limit: changes.historyLimits))
      }
    }

    private func edit(_ id: DocumentID) async throws {
      try await stores.withStore(store) { store in
        let base = try await store.readInline { try $0.document(id) }?.revision
        let next = (base?.generation ?? 0) + 1
        let body = try DocumentBody(parsing: Array(#"{"type":"note","count":\#(next)}"#.utf8))
        try await store.update(loading: [id], as: .server) { changes in
          _ = try changes.put(id, base: base, body: body)
        }
      }
    }
  }
}
