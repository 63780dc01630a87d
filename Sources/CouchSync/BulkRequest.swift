package import Documents

/// The documents of one `_bulk_docs`.
///
/// Source: CouchDB, "POST /{db}/_bulk_docs".
package struct BulkRequest: Sendable {
  /// The elements, in order.
  let nodes: [JSONNode]
  /// Whether revisions are made here; false for a peer's.
  let isNewEdit: Bool

  /// Reads a body. What is wrong with one document is that document's own result.
  /// - Throws: 400 for a body that is no request; 413 for too many documents; 501 for `all_or_nothing`,
  ///   which CouchDB 2 gave up.
  package init(_ body: JSONNode) throws(CouchError) {
    nodes = Array(try CouchBody.documents(in: body))
    if let flag = body["new_edits"] {
      guard let value = flag.bool else { throw .badRequest("`new_edits` must be a boolean") }
      isNewEdit = value
    } else {
      isNewEdit = true
    }
    if body["all_or_nothing"]?.bool ?? false {
      throw CouchError(501, "not_implemented", "all_or_nothing is not supported")
    }
  }
}
