package import Stores

/// CouchDB has a word for each of these.
extension ServiceError.Code {
  package static let emptyString = Self("emptyString")
  package static let invalidBookmark = Self("invalidBookmark")
  package static let invalidBoolean = Self("invalidBoolean")
  package static let invalidDesignLanguage = Self("invalidDesignLanguage")
  package static let invalidField = Self("invalidField")
  package static let invalidFieldName = Self("invalidFieldName")
  package static let invalidFields = Self("invalidFields")
  package static let invalidIndex = Self("invalidIndex")
  package static let invalidIndexName = Self("invalidIndexName")
  package static let invalidKey = Self("invalidKey")
  package static let invalidNonNegativeInteger = Self("invalidNonNegativeInteger")
  package static let invalidStaleValue = Self("invalidStaleValue")
  package static let invalidOperator = Self("invalidOperator")
  package static let invalidPartitionedValue = Self("invalidPartitionedValue")
  package static let invalidPositiveInteger = Self("invalidPositiveInteger")
  package static let invalidSelector = Self("invalidSelector")
  package static let invalidSelectorJSON = Self("invalidSelectorJSON")
  package static let invalidSortField = Self("invalidSortField")
  package static let invalidSortJSON = Self("invalidSortJSON")
  package static let invalidString = Self("invalidString")
  package static let missingRequiredKey = Self("missingRequiredKey")
  package static let noUsableIndex = Self("noUsableIndex")
  package static let notSupported = Self("notSupported")
  package static let selectorTooCostly = Self("selectorTooCostly")
  package static let unsupportedMixedSort = Self("unsupportedMixedSort")
  /// A parameter has a value that is not allowed.
  package static let invalidArgument = Self("invalidArgument")
}
