/// Rows of hotels for tests.
enum Rows {
  /// A hotel with an id and a name, and further members as JSON text.
  static func hotel(_ id: Int, _ name: String, _ more: String = "") -> String {
    let more = more.isEmpty ? "" : "," + more
    return #"{"id":"hotel_\#(id)","type":"hotel","name":"\#(name)"\#(more)}"#
  }

  /// Six hotels that differ in the members that searches use.
  static let some = [
    hotel(
      1, "Grand Café Hotel",
      #""description":"A pool beside the bar.","city":"Paris","country":"France","address":"7 rue d'Alger""#
    ),
    hotel(
      2, "The Pool House",
      #""description":"Rooms over the garden.","city":"San Francisco","state":"California","country":"United States""#
    ),
    hotel(
      3, "Youth Hostel Medway",
      #""description":"A hostel. Youth groups are welcome; free Wi-Fi.","city":"Medway","country":"United Kingdom""#
    ),
    hotel(
      4, "Seaside Rooms",
      #""description":"Bed and breakfast by the sea.","city":"Brighton","country":"United Kingdom","amenities":["pool","spa"]"#
    ),
    hotel(
      5, "Hôtel de l'Étoile",
      #""description":"Quiet \"rooms\" near San Remo street.","city":"Francisco San","country":"France","free_breakfast":true,"pets_ok":false"#
    ),
    hotel(
      6, "B&B Crown",
      #""title":"Rochester","description":null,"city":null,"country":"United Kingdom""#),
  ]
}
