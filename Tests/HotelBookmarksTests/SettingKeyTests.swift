import Testing

@testable import HotelBookmarks

@Suite struct SettingKeyTests {
  @Test func namesFollowTheConventions() {
    let names = SettingKey.allCases.map { [$0.rawValue, $0.flagName, $0.environmentName] }
    #expect(
      names == [
        ["hostname", "hostname", "HOTEL_BOOKMARKS_HOSTNAME"],
        ["port", "port", "HOTEL_BOOKMARKS_PORT"], ["data", "data", "HOTEL_BOOKMARKS_DATA"],
        ["upstream", "upstream", "HOTEL_BOOKMARKS_UPSTREAM"],
        ["publicUrl", "public-url", "HOTEL_BOOKMARKS_PUBLIC_URL"],
        ["origins", "origins", "HOTEL_BOOKMARKS_ORIGINS"],
        ["guestsPerHour", "guests-per-hour", "HOTEL_BOOKMARKS_GUESTS_PER_HOUR"],
        ["openStores", "open-stores", "HOTEL_BOOKMARKS_OPEN_STORES"],
        ["logLevel", "log-level", "HOTEL_BOOKMARKS_LOG_LEVEL"],
        ["logFormat", "log-format", "HOTEL_BOOKMARKS_LOG_FORMAT"],
      ])
  }
}
