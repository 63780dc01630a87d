/// Answers in the exact shapes of the two generations, about hotels that do not exist.
enum Golden {
  /// First generation: an `id` with the type twice, the address in parts, `"None"` for what is
  /// missing.
  static let v1 = """
    {"data":[{"address":"1 Quay Road, ME1 1AA, Medway, United Kingdom","city":"Medway",\
    "country":"United Kingdom","description":"Ten beds.","id":"hotelhotel_7001",\
    "name":"Quay Hostel","state":"None"},{"address":"2 Mill Lane, Medway, United Kingdom",\
    "city":"Medway","country":"United Kingdom","description":"Caf\\u00e9 &quot;Mill&quot;.",\
    "id":"hotelhotel_7002","name":"Mill Inn","state":"Kent"}]}

    """

  /// Second generation: a context, one joined address, no `id`.
  static let v2 = """
    {"context":["FTS search - scoped to: inventory.hotel within fields \
    address,city,state,country,name,description"],"data":[{"address":"1 Quay Road, ME1 1AA, \
    Medway, United Kingdom","description":"Ten beds.","name":"Quay Hostel"}]}

    """

  /// Second generation, nothing asked for.
  static let v2Rejected = """
    {"context":["FTS search rejected - no search terms were provided"],"data":[]}

    """

  /// What Flask says to an unknown path.
  static let notFoundPage = """
    <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN"><title>404 Not Found</title>
    """

  /// As many rows of the first generation, `hotel_1` first.
  static func v1(rows: Int) -> String {
    let rows = (1..<max(rows, 0) + 1).map { #"{"id":"hotelhotel_\#($0)","name":"Inn \#($0)"}"# }
    return #"{"data":[\#(rows.joined(separator: ","))]}"#
  }
}
