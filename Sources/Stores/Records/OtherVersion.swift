/// Data that another version of this service has written.
package enum OtherVersion {
  /// Why data of a version can't be used, with what to do; nil for a version that is known.
  /// - Parameter what: the data and how it came to be, such as "The database was written".
  /// - Parameter base: the first version that is known.
  /// - Parameter version: the last one, which this version of the service writes.
  package static func refusal<Number: BinaryInteger>(
    of what: String, _ found: Number, _ base: Number, _ version: Number
  ) -> String? {
    guard found < base || found > version else { return nil }
    let (age, remedy) =
      found > version
      ? ("a newer", "Start the version that wrote it, or a later one")
      : ("an earlier", "Export each account with the version that wrote it, and import it here")
    return "\(what) by \(age) version of this service: its format is \(found), this version needs "
      + "\(version). \(remedy)"
  }
}
