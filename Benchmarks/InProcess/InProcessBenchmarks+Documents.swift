import Benchmark
import Documents

extension InProcessBenchmarks {
  /// A hotel of 1.1 KB, as a bookmark stores it.
  static let hotel = Array(
    """
    {"type":"hotel","id":10025,"name":"Medway Youth Hostel","address":"Capstone Road, ME7 3JE",\
    "city":"Medway","country":"United Kingdom","phone":"+44 870 770 5964","price":null,\
    "free_internet":false,"vacancy":true,"pets_ok":true,"geo":{"lat":51.35785,"lon":0.55818,\
    "accuracy":"RANGE_INTERPOLATED"},"public_likes":["Julius Tromp I","Corrine Hilll"],\
    "reviews":[{"author":"Ozella Sipes","date":"2013-06-22 18:33:50 +0300","ratings":{"Cleanliness":5,\
    "Location":4,"Overall":4,"Rooms":3,"Service":5,"Value":4}}],"description":"\
    \(String(repeating: "40 bed summer hostel about 3 miles from town. ", count: 12))"}
    """.utf8)

  /// Parsing of a body, and the two digests: the body's and the revision's.
  static func registerDocuments() {
    let thousand = Benchmark.Configuration(scalingFactor: .kilo)
    Benchmark("JSON: parse 1.1 KB", configuration: thousand) { benchmark in
      for _ in benchmark.scaledIterations {
        blackHole(try ParsedJSON(hotel, limits: .document))
      }
    }
    Benchmark("JSON: parse and digest 1.1 KB", configuration: thousand) { benchmark in
      for _ in benchmark.scaledIterations { blackHole(try DocumentBody(parsing: hotel)) }
    }
    Benchmark("digest: a revision below another", configuration: thousand) { benchmark in
      let body = try DocumentBody(parsing: hotel)
      let parent = RevisionID(generation: 7, digest: String(repeating: "a1", count: 16))
      benchmark.startMeasurement()
      for _ in benchmark.scaledIterations {
        blackHole(body.revision(below: parent, isDeleted: false))
      }
    }
  }
}
