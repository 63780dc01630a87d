/// `openapi.yaml` in the forms in which the server answers it.
package struct APIDescription: Sendable {
  /// The text of the file.
  let yaml: [UInt8]
  /// What of it an app needs.
  let appPart: [UInt8]
  /// The whole as JSON, for the page at `/docs`.
  let json: PageFile

  /// Cuts the part for apps out of the text, and packs the JSON.
  package init(yaml: [UInt8], json: [UInt8]) {
    self.yaml = yaml
    appPart = ContractPart.ofApps(yaml)
    self.json = PageFile(name: "openapi.json", bytes: json)
  }
}
