/// The names under which files have a hotel's members.
///
/// A name is compared without regard to case, spaces and punctuation: `Hotel Name`, `hotel_name` and `hotelName` are
/// the same, and so are `addr:city` and `address.city`.
enum HotelAliases {
  /// What a member says about the hotel.
  enum Meaning: Hashable {
    case id, name, description, address, street, houseNumber, city, state, country, postcode
    case phone, url, email, amenities, category, price
    /// A position: an object, a GeoJSON point, or a text.
    case position
    case latitude, longitude
  }

  /// A name's meaning. Of two names with the same meaning, the one with the lower rank counts.
  struct Match: Equatable {
    let meaning: Meaning
    let rank: Int
  }

  /// The meaning of a member's name; nil for a name that means nothing here.
  static func match(_ name: some Collection<UInt8>) -> Match? {
    let letters = letters(of: name)
    if let match = table[letters] { return match }
    for (prefix, allowed) in prefixes where letters.utf8.starts(with: prefix.utf8) {
      let rest = String(Substring(letters.utf8.dropFirst(prefix.utf8.count)))
      guard let match = table[rest], allowed.contains(match.meaning) else { continue }
      return Match(meaning: match.meaning, rank: match.rank + rankOfPrefix)
    }
    return nil
  }

  /// The letters and digits of a name in lower case. Bytes outside of ASCII are kept.
  static func letters(of name: some Collection<UInt8>) -> String {
    var letters: [UInt8] = []
    for byte in name {
      switch byte {
      case 0x41...0x5A: letters.append(byte | 0x20)
      case 0x30...0x39, 0x61...0x7A, 0x80...: letters.append(byte)
      default: continue
      }
    }
    return String(decoding: letters, as: UTF8.self)
  }

  /// Whether a member may have others of the hotel in it, although its name means nothing by itself.
  static func isContainer(_ name: String) -> Bool { containers.contains(letters(of: name.utf8)) }

  private static let containers: Set<String> = ["contact", "contacts", "place", "venue", "addr"]

  /// Names with a prefix count less than plain ones.
  private static let rankOfPrefix = 100

  /// What stands before a name, and the meanings that the rest of the name may then have. `contactName` is no hotel's
  /// name.
  private static let prefixes: [(String, Set<Meaning>)] = {
    let all: Set<Meaning> = [
      .id, .name, .description, .address, .street, .houseNumber, .city, .state, .country, .postcode,
      .phone, .url, .email, .amenities, .category, .price, .position, .latitude, .longitude,
    ]
    return ["hotel", "property", "accommodation", "listing", "lodging"].map { ($0, all) }
      + ["address", "addr", "location", "contact", "geo", "place", "coordinates", "geolocation"]
      .map { ($0, all.subtracting([.id, .name, .description, .category, .price])) }
  }()

  private static let table: [String: Match] = {
    var table: [String: Match] = [:]
    for (meaning, names) in names {
      for (rank, name) in names.split(separator: " ").enumerated() {
        table[String(name)] = Match(meaning: meaning, rank: rank)
      }
    }
    return table
  }()

  /// The names, those that count most first. They are in lower case and without punctuation.
  private static let names: [(Meaning, String)] = [
    (.id, "id docid hotelid propertyid accommodationid listingid placeid uuid guid osmid objectid"),
    (
      .name,
      """
      name hotelname propertyname accommodationname listingname displayname fullname businessname \
      nameofhotel namedeshotels nom nombre nome naam hotel nameen intname officialname title
      """
    ),
    (
      .description,
      """
      description desc hoteldescription longdescription fulldescription descriptiontext \
      descriptionen summary overview shortdescription about editorialsummary beschreibung \
      descripcion descrizione
      """
    ),
    (
      .address,
      """
      address fulladdress formattedaddress addressfull addresstext displayaddress streetaddress \
      address1 addressline1 addressline adresse adress direccion indirizzo
      """
    ),
    (
      .street,
      "street streetname addrstreet road thoroughfare strasse straße rue calle via line1 lines"
    ),
    (.houseNumber, "housenumber housenr streetnumber addrhousenumber hausnummer"),
    (
      .city,
      """
      city cityname town addresslocality locality municipality addrcity village stadt ort ville \
      ciudad citta città
      """
    ),
    (
      .state,
      """
      state statename region province stateprovince addressregion administrativearea county \
      statecode regionname bundesland
      """
    ),
    (
      .country,
      "country countryname addresscountry addrcountry land pays pais país paese countrycode"
    ),
    (
      .postcode,
      "postcode postalcode zip zipcode zippostalcode addrpostcode plz codepostal cap"
    ),
    (.phone, "phone telephone phonenumber tel telephonenumber internationalphonenumber telefon"),
    (.url, "url website web homepage websiteurl websiteuri hotelurl link siteweb"),
    (.email, "email emailaddress mail"),
    (
      .amenities,
      """
      amenities facilities amenity amenityfeature amenityfeatures hotelamenities hotelfacilities \
      facility amenitieslist amenitylist equipment services features ausstattung
      """
    ),
    (
      .category,
      """
      type category hoteltype propertytype accommodationtype tourism kind types categories \
      hotelcategory
      """
    ),
    (
      .price,
      """
      price pricepernight nightlyrate nightlyprice roomrate dailyrate pricefrom minprice \
      lowestprice baseprice averageprice cost preis prix precio prezzo
      """
    ),
    (.latitude, "lat latitude geolat ycoordinate coordlat breitengrad"),
    (.longitude, "lon lng long longitude geolon geolng xcoordinate coordlon coordlng längengrad"),
    (
      .position,
      """
      geo geolocation location coordinates coordinate coords geopoint geoposition latlng latlon \
      latlong position geometry center centroid loc point gps gpscoordinates geocode geocoordinates \
      geom wkt thegeom
      """
    ),
  ]
}
