/// What a person sees when the server is up.
enum StartupBanner {
  static func text(_ settings: Settings, port: Int) -> String {
    let host = settings.hostname.contains(":") ? "[\(settings.hostname)]" : settings.hostname
    let url = settings.publicURL ?? "http://\(host):\(port)"
    let upstream =
      switch settings.upstream {
      case .embedded: "the embedded catalogue"
      case .travelSample(let url): url
      }
    return """
      Hotel Bookmarks \(Version.current) at \(url)
      data in \(settings.data), hotels from \(upstream)
      Try it:
        TOKEN=$(curl -s -X POST \(url)/v1/guests | sed 's/.*"token":"\\([^"]*\\)".*/\\1/')
        curl -s "\(url)/v1/hotels?description=pool&location=san+francisco" -H "Authorization: Bearer $TOKEN"
        curl -s -X PUT \(url)/v1/bookmarks/hotel_25510 -H "Authorization: Bearer $TOKEN"
      """
  }
}
