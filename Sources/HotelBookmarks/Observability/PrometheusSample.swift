/// One line of the text format.
package struct PrometheusSample: Sendable {
  package enum Kind: String, Sendable {
    case counter
    case gauge
    case histogram
  }

  let family: String
  let kind: Kind
  let suffix: String
  let labels: String
  let value: Double
}

extension PrometheusSample {
  /// A sample of a counter or gauge.
  package init(_ name: String, _ kind: Kind, _ value: Double) {
    self.init(family: name, kind: kind, suffix: "", labels: "", value: value)
  }
}
