extension HotelAliases {
  /// The names of each meaning, those that count most first. They are in lower case, without marks and without
  /// punctuation: English ones and those of known programs, then other languages'.
  static let names = """
    id: id docid hotelid propertyid accommodationid listingid placeid uuid guid osmid objectid hotelcode \
    propertycode businessid locationid fsqid fsqplaceid geonameid eanhotelid propertytoken recordid dockey hotelno \
    giataid mapboxid
    name: hotelname propertyname accommodationname nameofhotel hotel name listingname displayname fullname \
    businessname namedeshotels nom nombre nome nameen intname officialname names companyname nomcommercial \
    nometablissement nomhotel enseigne enseigne1etablissement denominazione denominacion denominacao \
    nombrecomercial nazwa namn navn nimi nume oteladi otel название наименование 名称 施設名 施設名称 宿泊施設名 \
    ホテル名 酒店名称 酒店名 饭店名称 名前 호텔명 숙소명 업소명 상호 이름 اسمالفندق الاسم اسم ονομα nomdelhotel \
    nombredelhotel nombrehotel nomehotel nomedohotel denominazionestruttura nomestruttura nomedoempreendimento \
    nomedoestabelecimento betriebsname unterkunft unterkunftsname bezeichnung tesisadi 사업장명 旅宿名稱 旅館名稱 \
    namahotel nama tenkhachsạn ten nazevhotelu nazev nazov naziv szallodaneve nev назва име ชื่อโรงแรม ชื่อ \
    שםהמלון שם نامهتل نام नाम title itemlabel hotellabel label accountname suppliername organizationname \
    organization1name company nomefantasia razaosocial nombrefantasia επωνυμια tradename tradingname dbaname dba \
    betrieb 宿名 旅館名 名稱 飯店名稱 호텔이름 숙소이름 상호명 시설명 업체명 naam nazwawlasna lodging \
    accommodation hebergement alojamiento alojamento alloggio hospedagem overnatting boende nocleg konaklama \
    ubytovani szallas majoitus 宿 宿泊先 住宿 숙소 отель гостиница готель hotellnamn hotellnavn hotelnavn \
    hotellinnimi होटलकानाम होटल nomestab nombreestab doingbusinessas doingbusinessasname enseigneetablissement \
    legalname raisonsociale denominationunitelegale denominationusuelle denomination razonsocial denumire \
    denumirea назив pavadinimas nosaukums heiti emri nomi jina neve اسمالمنشأة 屋号 店名 店舗名 ชื่อที่พัก নাম \
    სახელი handelsnaam bedrijfsnaam firmenname objektname documentname productname locationname unternehmen firma \
    hotell headline establishment etablissement establecimiento estabelecimento 處所名稱 旅宿名 업소이름 \
    anlaggning overnattingssted nafn izena ime атауы emriihotelit ឈ្មោះសណ្ឋាគារ featurename hotelnm \
    propertynm
    description: description desc hoteldescription longdescription fulldescription descriptiontext descriptionen \
    summary overview shortdescription about editorialsummary content bodyhtml body excerpt descriptions \
    beschreibung descripcion descrizione descricao beschrijving beskrivning opis aciklama описание 説明 概要 描述 \
    简介 설명 الوصف deskripsi motả popis leiras опис תיאור توضیحات notes note publicdescription comment comments \
    remarks remark bemerkung bemerkungen notiz notizen anmerkung commentaire commentaires remarques nota notas \
    observaciones observacoes uwagi примечание комментарий примітка メモ 備考 메모 备注 說明 ghichu mota \
    omschrijving beskrivelse kuvaus descriere περιγραφη descriptionstruct productdescription hoteloverview \
    descriptifcourt descriptif shortdesc longdesc propertydescription documentdescription kirjeldus apraksts \
    aprasymas pershkrimi 紹介文 ご紹介 介绍 介紹 abstract
    address: address fulladdress formattedaddress addressfull addresstext displayaddress addressstring \
    streetaddress freeform street1 address1 address1formatted addressline1 addressline addressobj addresses \
    adresse adress adres direccion indirizzo endereco morada domicilio адрес 住所 所在地 地址 주소 소재지 العنوان \
    διευθυνση roadaddressname addresslines addr add osoite 소재지전체주소 도로명전체주소 alamat dịachỉ diachỉ \
    adresa cim адреса ที่อยู่ כתובת آدرس postaladdress direccionpostal adressepostale anschrift 详细地址 dirección \
    住址 所在地住所 hotelanschrift adresse1 adresszeile streetaddress1 addressline0 पता addr1 aadress katuosoite \
    gatuadress gateadresse heimilisfang adrese adresas adresi naslov adreca enderezo manzil anwani მისამართი \
    ঠিকানা местонахождение адресместанахождения besoksadress forretningsadresse addressline2 address2 addr2 \
    street2 addrline1 番地 siteaddress postaddress postaadresi where vicinity мекенжайы helbidea \
    អាសយដ្ឋាន
    street: street streetname addrstreet road thoroughfare strasse rue calle via straat ulica rua улица line1 \
    lineone lines strasseundhausnummer strasseundnr ulice utca jalan roadname streetnameandnumber ulitsa вулиця \
    οδος utcahazszam nomvial nombrevia nomvia logradouro callenombre libellevoie libellevoieetablissement uliceacp \
    kozteruletneve kozterulet straatnaam stras רחוב voie nomvoie
    houseNumber: housenumber housenr houseno streetnumber streetno streetnr startstreetnumber addressnumber \
    addrhousenumber hausnummer hausnr huisnummer huisnr numerodomu nrdomu дом hnr civico numerocivico numerovoie \
    numero numer nro num numeroext numext callealtura numerovoieetablissement hazszam cislopopisne nrdom nrbudynku \
    kucnibroj hisnastevilka majanumber hsnr nvoie מספרבית номербудинку номердома
    city: city cityname town citytown addresslocality locality municipality addrcity village stadt ort ville \
    ciudad cidade commune nomcommune libellecommune comune municipio localidad poblacion plaats woonplaats \
    destinationname miasto miejscowosc sehir kommun город 市区町村名 市区町村 城市 도시 시군구 المدينة πολη kota \
    thanhphố mesto grad varos oras concelho poststed postort kaupunki il 縣市 місто град เมือง עיר شهر शहर \
    citylabel placelabel locationlabel ortsname gemeinde πολις 市区 区市町村 stad by orase localita citta localite \
    postitoimipaikka localitate localitatea linn kunta plaatsnaam miestas pilseta населеномясто населенийпункт \
    населенныйпункт staður qyteti shahar mji poblacio concello ili telepules obec naselje opstina mjesto ქალაქი \
    শহর bandar comuna communenom libellecommuneetablissement kabupatenkota место қала udalerria herria obcina \
    municipi municipalite stadur ទីក្រុង ort01 יישוב ישוב
    state: state statename region province stateprovince stateprovincename addressregion administrativearea county \
    statecode regionname bundesland provincia estado wojewodztwo область регион 都道府県名 都道府県 省份 시도 \
    provinsi จังหวัด judet adminname1 countyname uf regione राज्य prefecture provincie περιφερεια prefektur 省 \
    省市 pname countrysubdivision stateprov stateorprovince lan maakunta maakond kanton canton zupanija županija \
    judetul област استان المحافظة المنطقة الإمارة νομος entidad nomentidad entidadfederativa departamento \
    departement regija tinh tinhthanhpho kabupaten negeri viloyat apskritis savivaldybe novads okrug prefettura \
    bolge prov stprov fylke 지역 stcd
    country: country countryname addresscountry addrcountry countrytrans countrylabel countryregion land pays pais \
    paese kraj ulke страна 国名 国家 국가 الدولة البلد χωρα negara quốcgia zeme krajina drzava orszag tara maa \
    країна държава ประเทศ מדינה کشور देश countrycode nation nazione staat χώρα valsts salis riik vend shteti nchi \
    davlat দেশ ქვეყანა ctry land1 cntry cc1
    postcode: postcode postalcode zip zipcode zippostalcode addrpostcode plz postleitzahl codepostal codigopostal \
    cap cep kodpocztowy postnummer postakodu pincode 郵便番号 邮编 우편번호 kodepos psc postnr postinumero \
    iranyitoszam รหัสไปรษณีย์ postalzip kodpoczt codpostal codicepostale τκ ταχυδρομικοςκωδικας почтовыйиндекс \
    индекс поштовийіндекс cp cpostal postal מיקוד індекс postiindeks pastaindekss pastokodas postanskibroj \
    поштанскиброј пощенскикод поштенскиброј postnastevilka postnumer póstnúmer codipostal postakodea poskod \
    kodipostar pstlz postalcd eircode 郵遞區號 邮政编码 郵便
    phone: phone telephone phonenumber tel telephonenumber internationalphonenumber phones telefon telefone \
    telefono telefoon телефон 電話番号 電話 电话 전화번호 전화 الهاتف telepon puhelin 소재지전화 sốdiệnthoại \
    phone1value โทรศัพท์ טלפון تلفن telno telnr telephoneno phoneno telefonnummer telefonnr telefoonnummer \
    numerodetelephone numerotelephone numerodetelefono numerotelefono telemovel celular mobile handy mobil movil \
    τηλεφωνο 联系电话 連絡先 연락처 dienthoai номертелефона telefonszam telefonnumero supplierphone simi \
    puhelinnumero talrunis telefonas telefoni telefonu simu fono contactnumber contactno contactphone \
    contacttelephone ফোন ტელეფონი เบอร์โทรศัพท์ เบอร์โทร cell cellphone mobilephone mobiltelefon telf tlf sími \
    tālrunis telefoonnr telf1 رقمالهاتف ph mob फोन telefonoa phn phnnbr
    url: website websiteuri websiteurl url urls web homepage weburl hotelurl link siteweb websites sitoweb \
    paginaweb siteinternet hjemmeside website1value site сайт ホームページ 网址 홈페이지 internet internetadresse \
    uri weblink weblink1 url1 bookinglink bookingurl webadresse adresseweb adresseinternet stronawww \
    stronainternetowa www websitesi websajt trangweb 公式サイト 官网 官網 官方網站 網站 網址 网站 웹사이트 \
    weboldal kotisivu ιστοσελιδα вебсайт adressesiteweb webbplats webbsida kotisivut wwwsivu koduleht majaslapa \
    svetaine vefsiða vefsíða webovastranka webstranica spletnastran ιστοτοπος уебсайт вебсајт tovuti وبسایت \
    الموقعالإلكتروني الموقع אתר אתראינטרנט contenturl pageurl honlap urlhotel veebileht nettside nettsted sito \
    permalink ホームページurl 公式url webサイト ウェブサイト verkkosivu hemsida webbadress webseite webstranka \
    webova sajt сајт
    email: email emailaddress mail emails email1value emailadresse mailadresse mailaddress courriel \
    correoelectronico correo epost eposta emailcim sahkoposti メール メールアドレス 邮箱 電子郵件 이메일 почта \
    электроннаяпочта adresseemail posta emailid mailid tourismemail correuelectronic correoelec netfang epasts \
    elpastas имейл имејл enaslov baruapepe ایمیل البريدالإلكتروني דואל דואראלקטרוני epastas elektronskaposta \
    елпошта epostadresse epostadress emailadres emailadress
    amenities: amenities facilities amenity amenityfeature amenityfeatures hotelamenities hotelfacilities facility \
    amenitieslist amenitylist amenitygroups equipment services features ausstattung servicios servizi equipements \
    удобства услуги 設備 편의시설 comodidades equipamiento equipamientos équipements prestations \
    servizidisponibili dotazioni udogodnienia vybaveni felszereltseg olanaklar ozellikler зручності παροχες \
    faciliteiten voorzieningen 设施 アメニティ 부대시설 tiennghi listingamenities faciliteter fasiliteter \
    bekvamligheter palvelut szolgaltatasok tienich fasilitas facilitati 設備サービス सुविधाएं vybavenie \
    wyposazenie sadrzaji dotari aprikojums patogumai mugavused serviziofferti serviciosofrecidos servicesofferts \
    المرافق สิ่งอำนวยความสะดวก امکانات varustelu kemudahan
    category: type category hoteltype propertytype accommodationtype tourism kind types categories hotelcategory
    price: price pricepernight lowestpricepernight pricenight nightlyrate nightlyprice ratepernight roomrate \
    dailyrate pricefrom ratesfrom minprice minrate lowestprice baseprice averageprice cost preis prix precio \
    prezzo preco prixparnuit preispronacht precionoche prijs cena fiyat цена стоимость 価格 料金 价格 가격 السعر \
    tarif tarifa tariffa tarife rates giá harga ціна вартість τιμη hinta pret preţ ราคา מחיר قیمت 最低价 最低價 \
    起价 房价 宿泊料金 一泊料金 宿泊費 요금 숙박비 extractedprice diaria valordiaria ucret 1박요금 숙박요금 定價 \
    定价 कीमत kaina cmimi narxi ფასი মূল্য 每晚价格 每晚價格 平均价格 参考价 参考价格 门市价 房價 ราคาต่อคืน bei \
    ubernachtungspreis zimmerpreis nachtpreis 1泊料金 1泊価格 cijena cijenanocenja ราคาเริ่มต้น giaphong मूल्य \
    प्रतिरातमूल्य бағасы verð prezioa preu rateamt rateamount rate
    latitude: lat latitude geolat ycoordinate coordlat breitengrad breite py latitudine breedtegraad \
    szerokoscgeograficzna широта 緯度 纬度 위도 enlem خطالعرض y pointy coordinates1 geometrycoordinates1 \
    geoepgs4326lat γεωγραφικοπλατος πλατος zemepisnasirka geogrbreite szelesseg vido breddegrad latitud \
    leveyspiiri lintang szerokoscgeogr szerokosc geobreite ละติจูด mapy coordinatay coordenaday coordy latwgs84 \
    latitudewgs84 wgs84lat gpslatitude gpslatitud קורוחב γεωγρπλατος अक्षांश عرضجغرافیایی عرضالبلد zemsirka \
    gpsszelesseg foldrajziszelesseg географскаширина географическаяширота географічнаширота geografskasirina \
    zemljepisnasirina leveysaste breiddargraða platuma platums laiuskraad gjeresia gjeresiagjeografike ендік \
    latitudea অক্ষাংশ განედი latdec primlatdec gpslatitudine gpslat ywgs84 latdeg maplat
    longitude: lon lng long longitude geolon geolng xcoordinate coordlon coordlng langengrad laengengrad lange \
    laenge px longitud longitudine lengtegraad dlugoscgeograficzna долгота 経度 经度 경도 boylam خطالطول x pointx \
    coordinates0 geometrycoordinates0 geoepgs4326lon γεωγραφικομηκος μηκος довгота zemepisnadelka geogrlaenge \
    hosszusag kinhdo lengdegrad pituuspiiri bujur dlugoscgeogr geolange 經度 ลองจิจูด mapx coordinatax coordenadax \
    coordx lonwgs84 longitudewgs84 wgs84lon gpslongitude קואורך γεωγρμηκος देशांतर طولجغرافیایی طولالبلد zemdelka \
    gpshosszusag foldrajzihosszusag географскадължина географскадужина географскадолжина географическаядолгота \
    географічнадовгота geografskaduzina zemljepisnadolzina pituusaste laengdegrad lengdargraða ilguma garums \
    pikkuskraad gjatesia gjatesiagjeografike бойлық longitudea দ্রাঘিমাংশ გრძედი longdec primlongdec gpslongitud \
    gpslongitudine gpslon gpslng xwgs84 geogrlange longdeg lngdeg maplng maplon
    position: geo geolocation location coordinates coordinate coords geopoint geoposition latlng latlon latlong \
    position geometry center centroid loc point gps gpscoordinates geocode geocodes geocoordinates geom wkt \
    thegeom geopoint2d geojson geographiccoordinates coord coordenadas coordonnees координаты map lonlat lnglat \
    longlat geog geography wktgeom wkbgeometry koordinaten koordinater koordinatlar coordinaten wspolrzedne 座標 \
    坐标 经纬度 經緯度 좌표 緯度経度 경위도 googlemaps googlemapslink googlemapsurl mapslink maplink mapurl maps \
    coordinatelocation lage geolocalisation geolocalizacion geolocalizacao bounds newgeoreferencedcolumn \
    georeferencedcolumn georeference geocodedcolumn geocodedlocation
    """
}
