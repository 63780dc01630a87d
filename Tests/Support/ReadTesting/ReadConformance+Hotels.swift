import Documents
import Hotels
import Stores

extension ReadConformance {
  /// The reads of bookmarks.
  static let hotelReadings: [Reading] = [
    Reading("the mirror") { bench in
      guard let whole = try await bench.hotels.mirror(of: bench.name, since: nil) else {
        throw ServiceError.absent
      }
      let parts = whole.token.description.split(separator: ".").map(String.init)
      // A copy that lacks the last change of the bookmarks.
      let sequence = (Int(parts[1]) ?? 0) - 2
      let token = MirrorToken("1.\(sequence).\(parts[2]).\(parts[3])")
      let later = try await bench.hotels.mirror(of: bench.name, since: token)
      return [whole.json, later?.json ?? []]
    },
    Reading("bookmarks") { bench in
      var (answers, cursor): ([[UInt8]], BookmarkCursor?) = ([], nil)
      repeat {
        let page = try await bench.hotels.bookmarks(in: bench.name, limit: 6, after: cursor)
        answers.append(page.bytes + Array(page.tag.utf8))
        cursor = page.next
      } while cursor != nil
      let lost = BookmarkCursor("12-0123456789abcdef")
      answers.append(try await bench.hotels.bookmarks(in: bench.name, limit: 3, after: lost).bytes)
      let all = try await bench.hotels.allBookmarks(in: bench.name)
      answers += all.map { Array($0.id.text.utf8) + $0.body.bytes }
      let known = try await bench.hotels.bookmarked(among: all.map(\.id), in: bench.name)
      answers.append(Array("\(known.count)".utf8))
      let adders = try await bench.hotels.adders(of: all.map(\.id), in: bench.name)
      answers.append(Array("\(adders.count)".utf8))
      return answers
    },
  ]
}
