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
  /// - Parameter labels: `name="value"`, separated by commas.
  package init(_ name: String, _ kind: Kind, labels: String = "", _ value: Double) {
    self.init(family: name, kind: kind, suffix: "", labels: labels, value: value)
  }

  /// The samples of an engine about updates, commits and damaged values.
  static func engine(
    commits: Int, updates: Int, repaired: Int, setAside: Int, dropped: Int
  ) -> [PrometheusSample] {
    [("repaired", repaired), ("setAside", setAside), ("dropped", dropped)].map { outcome, count in
      PrometheusSample(
        "store_damage_total", .counter, labels: "outcome=\"\(outcome)\"", Double(count))
    } + [
      PrometheusSample("store_commits_total", .counter, Double(commits)),
      PrometheusSample("store_updates_total", .counter, Double(updates)),
      PrometheusSample(
        "store_updates_per_commit", .gauge,
        commits == 0 ? 0 : Double(updates) / Double(commits)),
    ]
  }
}
