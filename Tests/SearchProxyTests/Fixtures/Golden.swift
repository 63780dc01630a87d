/// Answers in the exact forms of the two generations, with hotels that do not exist.
enum Golden {
  /// First generation: an `id` that contains the type twice, the address in parts, `"None"` for missing
  /// members.
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

  /// Second generation: the answer to a query without search terms.
  static let v2Rejected = """
    {"context":["FTS search rejected - no search terms were provided"],"data":[]}

    """

  /// Flask's answer to an unknown path.
  static let notFoundPage = """
    <!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN"><title>404 Not Found</title>
    """

  /// `rows` rows of the first generation, from `hotel_1`.
  static func v1(rows: Int) -> String {
    let rows = (1..<max(rows, 0) + 1).map { #"{"id":"hotelhotel_\#($0)","name":"Inn \#($0)"}"# }
    return #"{"data":[\#(rows.joined(separator: ","))]}"#
  }
}
