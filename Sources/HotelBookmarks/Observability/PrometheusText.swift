/// One line of the exposition.
package struct PrometheusSample: Sendable {
  /// What kind of metric the line belongs to.
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

  /// A sample of a counter or gauge.
  package init(_ name: String, _ kind: Kind, _ value: Double) {
    self.init(family: name, kind: kind, suffix: "", labels: "", value: value)
  }

  init(family: String, kind: Kind, suffix: String, labels: String, value: Double) {
    self.family = family
    self.kind = kind
    self.suffix = suffix
    self.labels = labels
    self.value = value
  }
}

/// Writes samples, the lines of a family together behind what it is and its type.
enum PrometheusText {
  static func bytes(of samples: [PrometheusSample]) -> [UInt8] {
    var text = ""
    let families = Dictionary(grouping: samples, by: \.family)
    for (family, lines) in families.sorted(by: { $0.key < $1.key }) {
      if let help = MetricHelp.text(of: family) { text += "# HELP \(family) \(help)\n" }
      text += "# TYPE \(family) \(lines.first?.kind.rawValue ?? "untyped")\n"
      for line in lines {
        let labels = line.labels.isEmpty ? "" : "{\(line.labels)}"
        text += "\(family)\(line.suffix)\(labels) \(number(line.value))\n"
      }
    }
    return Array(text.utf8)
  }

  private static func number(_ value: Double) -> String {
    Int64(exactly: value).map(String.init) ?? String(value)
  }
}
