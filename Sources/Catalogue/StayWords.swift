/// What a search says about a stay: "2 adults", "3 nights", "for two", "12-15 May", "tonight", how far it may be: "within
/// 2 km of", and how it asks: "where can I sleep". No hotel writes that.
enum StayWords {
  /// What nights and guests are called.
  private static let stays = SaidWords.list(
    """
    night,nights,nite,nites,nacht,nächte,nächten,nuit,nuits,noche,noches,notte,notti,noite,noites,nachten,noc,noce,nocy,gece,ночь,ночи,\
    ночей,day,days,tag,tage,tagen,jour,jours,día,días,giorno,giorni,dias,dagen,день,дня,дней,week,weeks,woche,wochen,semaine,semaines,\
    semana,semanas,settimana,settimane,weken,adult,adults,erwachsene,erwachsener,erwachsenen,adulte,adultes,adulto,adultos,adulti,\
    volwassenen,взрослых,взрослый,взрослые,guest,guests,gast,gäste,gästen,ospiti,huésped,huéspedes,hóspedes,person,persons,people,pax,\
    pers,personen,personne,personnes,persona,personas,persone,pessoas,pessoa,osoby,osób,kişi,человек,человека,child,children,kid,kids,\
    infant,infants,baby,babies,kind,kinder,kindern,kinderen,enfant,enfants,niño,niños,bambino,bambini,crianças,ребенок,ребенка,детей,room,\
    rooms,zimmer,chambres,habitaciones,camere,quartos,номера,номеров
    """)
  /// The same in scripts without spaces.
  private static let runs = "人|名様|名|泊|晚|夜|位|大人|小孩|박|명|인"
  /// What else a number counts that is no price: "max 20 km", "bis 22 Uhr".
  static let counted =
    stays
    + SaidWords.list(
      """
      uhr,am,pm,a.m.,p.m.,o'clock,h,heures,horas,ore,час,часов,hours,hour,hrs,stunden,years,year,yrs,jahre,jahren,ans,años,anni,лет,beds,\
      bed,bedrooms,betten,lits,camas,letti,stars,star,sterne,étoiles,estrellas,stelle,sqm,qm,m2,kg,floors,floor,seats,cm,feet
      """) + distances
  private static let distances = SaidWords.list(
    """
    km,kms,m,mi,mile,miles,meter,meters,metre,metres,metern,mètres,metros,metri,kilometer,kilometers,kilometre,kilometres,kilometern,\
    kilomètres,kilómetros,chilometri,min,mins,minute,minutes,minuten,minutos,minuti,минут,км,м,метров,yards,blocks
    """)
  static let months = SaidWords.list(
    """
    january,february,march,april,may,june,july,august,september,october,november,december,jan,feb,mar,apr,jun,jul,aug,sep,sept,oct,nov,\
    dec,januar,jänner,februar,märz,mai,juni,juli,oktober,dezember,mrz,okt,dez,janvier,février,mars,avril,juin,juillet,août,septembre,\
    octobre,novembre,décembre,enero,febrero,marzo,abril,mayo,junio,julio,agosto,septiembre,octubre,noviembre,diciembre,gennaio,\
    febbraio,aprile,maggio,giugno,luglio,settembre,ottobre,novembre,dicembre,janeiro,fevereiro,março,maio,junho,julho,setembro,outubro,\
    novembro,dezembro,января,февраля,марта,апреля,мая,июня,июля,августа,сентября,октября,ноября,декабря
    """)
  private static let numbers = SaidWords.list(
    """
    one,two,three,four,five,six,seven,eight,ten,ein,eine,einen,zwei,drei,vier,fünf,sechs,une,deux,trois,quatre,cinq,una,dos,tres,cuatro,\
    due,tre,quattro,dois,duas,twee,drie,две,два,три,четыре,двоих,троих
    """)
  /// What stands before guests, and before a date.
  private static let (before, on) = (
    SaidWords.list(
      "for,of,für,pour,para,per,voor,dla,для,на,up to,max,max.,bis zu,jusqu'à,hasta,fino a,до"),
    SaidWords.list(
      """
      on,from,the,for,between,until,am,ab,vom,von,bis,zum,zwischen,du,le,dès,el,del,desde,dal,dall',il,na,с,на,check in,check-in,checkin,\
      check out,check-out,checkout,arrival,arriving,departure,departing,anreise,abreise,arrivée,départ,llegada,salida,arrivo,partenza
      """)
  )
  /// What a question begins with, what may come next, and what it asks for: "where can I sleep", "dove dormire".
  private static let (questions, asking, sleeping) = (
    SaidWords.list("where,somewhere,place,places,how,can i,can we,can you,dove"),
    SaidWords.list("to,can,could,should,do,i,we,you,one,posso,possiamo,si,può"),
    SaidWords.list("sleep,stay,book,find,get,recommend,dormire,alloggiare,soggiornare")
  )
  private static let days = SaidWords.list(
    """
    today,tonight,tomorrow,tomorrow night,this weekend,next weekend,this week,next week,this month,next month,last minute,heute,heute \
    nacht,heute abend,morgen,übermorgen,dieses wochenende,nächstes wochenende,am wochenende,nächste woche,ce soir,cette nuit,\
    aujourd'hui,demain,ce week-end,ce weekend,la semaine prochaine,semaine prochaine,hoy,esta noche,mañana,este fin de semana,oggi,\
    stasera,stanotte,domani,questo weekend,hoje,esta noite,amanhã,vanavond,dit weekend,dzisiaj,jutro,сегодня,завтра,на выходные,今夜,今晩,\
    今日,明日,今週末,今晚,今天,明天,本周末,周末,오늘,오늘밤,내일,주말,이번 주말
    """)

  /// Whether a word says what a number counts that is no price.
  static func counts(_ word: String) -> Bool {
    !word.isEmpty && keys.contains(PlaceNames.folded(word))
  }
  private static let keys = Set(counted.map(PlaceNames.folded))

  private static let year = "(?:19|20)\\p{Nd}{2}"

  /// A pattern for a date without the name of a month: `12.05.`, `12/05/2026`, `2026-05-12`, `5月12日`.
  static let numericDate: String = {
    let (day, month) = ("(?:3[01]|[12]\\p{Nd}|0?[1-9])", "(?:1[0-2]|0?[1-9])")
    let end = "(?!\\p{Nd})"
    return "(?:" + day + "[./-]" + day + "[./-](?:" + year + "|\\p{Nd}{2})" + end + "|" + day
      + "\\."
      + month + "\\.(?!\\p{Nd})|(?!24/7)" + day + "/" + day + "(?![\\p{Nd}/])|" + year + "[./-]"
      + month + "[./-]"
      + day + end + "|" + month + "[月월]\\s?(?:" + day + "[日일])?|" + day + "[日일])"
  }()

  /// A pattern of JavaScript and ICU for all of that.
  static let pattern: String = {
    let (either, end) = (SaidWords.either, SaidWords.end)
    let number = "(?:\\p{Nd}{1,2}[\\s-]*|" + either(numbers) + "[\\s-]+)"
    let guests = number + "(?:" + either(stays) + end + "|(?:" + runs + ")+)"
    let joint =
      "\\s*(?:[-–—/~～]|\\s"
      + either([
        "to", "and", "bis", "und", "au", "al", "a", "y", "e", "until", "till", "по", "до", "и",
      ]) + "\\s)\\s*"
    let day = "(?:the\\s+)?\\p{Nd}{1,2}(?:st|nd|rd|th|er|º|°|\\.)?(?![\\p{Nd}:])"
    let days = day + "(?:" + joint + day + ")?"
    let month = either(months) + "(?!\\p{L})\\.?"
    let ofYear = "(?:,?\\s+(?:de\\s+)?" + year + ")?"
    let date =
      "(?:" + days + "\\s*(?:(?:of|de|di)\\s+)?" + month + ofYear + "|" + month + "\\s+" + days
      + ofYear + "|" + month + "\\s+" + year + "|" + numericDate + ")"
    let lead = "(?:" + either(on) + ":?\\s+){0,2}"
    let forms = [
      "(?:" + either(before) + "\\s+)?" + guests + "(?:\\s*[,+&/]?\\s*" + guests + ")*",
      either(Array(before.prefix { $0 != "up to" })) + "\\s+(?:\\p{Nd}{1,2}|" + either(numbers)
        + ")(?=\\s*(?:$|[,.;]|\\s(?:in|near|at|on|im|à|en|nahe|bei|в)\\s))",
      lead + date + "(?:" + joint + lead + date + ")?",
      either(questions) + "(?:\\s+" + either(asking) + "){0,3}\\s+" + either(sleeping) + end,
      // Who only types "today" or "morgen" looks for a word.
      "(?:(?<=\\S\\s)|(?=\\S+\\s\\S))" + either(StayWords.days),
      "(?:within|max|maximum|less than|under|up to|im umkreis von|maximal|unter|weniger als|à moins de|moins de|a menos de|menos de|"
        + "entro|meno di)\\.?\\s+\\p{Nd}+(?:[.,]\\p{Nd}+)?\\s*" + either(distances) + end
        + "(?:\\s+(?:walk|walking|drive|driving|zu Fuß|à pied|a pie|a piedi|away|distance))*"
        + "(?:\\s+(?:of|from|to|von|vom|de|du|des|da|dal|dalla|zum|zur|the|la|el|il)"
        + end + ")*",
    ]
    return "(?:" + forms.joined(separator: "|") + ")[.,;!?]*"
  }()
}
