import Documents

/// Bytes that order as the values of an index's fields do.
enum IndexKey {
  /// The key of the first values.
  static func bytes(_ values: [JSONNode], of fields: [FieldPath]) -> [UInt8] {
    var key: [UInt8] = []
    for (field, value) in zip(fields, values) {
      if field.isID, let id = value.string {
        // Ids stand in the order of their bytes, as wherever they are compared, and hold no zero.
        key += id.utf8
        key.append(0)
      } else {
        key += JSONCollation.key([value])
      }
    }
    return key
  }

  /// The part of a key that an index keeps.
  static func kept(_ key: [UInt8]) -> [UInt8] { Array(key.prefix(QueryLimits.keyBytes)) }
}
