package import Documents
import Scheduling

extension DocumentBody {
  /// Reads a long body in slices.
  /// - Returns: nil for a short one, and for what is no object: the caller reads it at once.
  /// - Throws: `ended`.
  package static func readLong(_ node: JSONNode) async throws -> DocumentBody? {
    guard node.kind == .object, node.offsets.count >= JSONCanonicalWriter.partBytes else {
      return nil
    }
    var reader = try DocumentBodyReader(node)
    while true {
      if let body = reader.next() { return body }
      try await Slice.giveWay()
    }
  }
}

extension BulkRequest.Element {
  /// Reads the body of a long document in slices.
  /// - Returns: nil for a short one, and for what is no document.
  /// - Throws: `ended`.
  func readLong() async throws -> DocumentBody? {
    guard case .value(let node) = self else { return nil }
    return try await DocumentBody.readLong(node)
  }
}
