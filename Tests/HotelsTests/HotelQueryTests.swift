import Hotels
import Testing

@Suite struct HotelQueryTests {
  @Test(
    arguments: [
      (nil, nil, 0), ("pool", nil, 1), ("pool POOL Pool", "pool", 1), ("a-b.c/d", "e", 5),
      ("Wi-Fi bar", "São Paulo", 5), ("& - !", nil, 0), ("4 stars", "4", 2),
      ("étoile ÉTOILE", nil, 1),
    ] as [(String?, String?, Int)])
  func wordsOfBothTextsCountOnce(description: String?, location: String?, count: Int) {
    #expect(HotelQuery(description: description, location: location).wordCount == count)
  }
}
