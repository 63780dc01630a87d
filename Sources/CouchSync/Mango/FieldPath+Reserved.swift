extension FieldPath {
  /// The document's id.
  static let id = FieldPath(reserved: "_id")
  /// The document's revision.
  static let revision = FieldPath(reserved: "_rev")
  /// What kind of thing the document is.
  static let type = FieldPath(reserved: "type")

  /// A name of the document's top level that needs no escape.
  private init(reserved name: String) {
    text = name
    names = [name]
  }
}
