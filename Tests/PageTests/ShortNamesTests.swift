import Testing

@testable import Page

@Suite struct ShortNamesTests {
  private func short(_ script: String, keys: [String: String] = [:]) -> String {
    String(decoding: ShortNames.script(Array(script.utf8), keys: keys), as: UTF8.self)
  }

  @Test func variablesOfADeclarationBecomeLetters() {
    #expect(
      short(
        """
        import { other } from "./other.js"
        const first = 1
        export function show(place, { signal }, ...rest) {
          const count = place.length + first, node = other(count, signal)
          for (const item of rest) node.append(`${item} of ${count / 2}`)
          return { node, count: place, then: value => value ?? /place/.test(place) }
        }
        """)
          == """
          import { other } from "./other.js"
          const first = 1
          export function show(a, { signal }, ...e) {
            const b = a.length + first, node = other(b, signal)
            for (const d of e) node.append(`${d} of ${b / 2}`)
            return { node, count: a, then: c => c ?? /place/.test(a) }
          }
          """)
  }

  @Test func aListOfDeclarationsGoesOnAfterBrackets() {
    #expect(
      short("const f = () => { const one = g(1), other = [one], last = other }")
        == "const f = () => { const b = g(1), a = [b], c = a }")
  }

  @Test func keysOfAnotherObjectOfThatNameStay() {
    let script = "function f() {\n  const texts = { where: 1 }\n  return texts.where\n}"
    #expect(short(script, keys: ["where": "a"]).contains("{ where: 1 }"))
  }

  @Test func wordsOfTheLanguageThatAreValuesGetShortForms() {
    #expect(
      short("f({ once: true, true: a.false, g: b ? undefined : false })\nreturn undefined")
        == "f({ once: !0, true: a.false, g: b ? void 0 : !1 })\nreturn void 0")
  }

  @Test(arguments: [
    // Of the module's top level, of the browser, and of nobody's declaration.
    "const size = 1\nconst f = size => size", "const f = (location) => location.href",
    "const f = () => missing(window)",
    // Also a member's name: in braces, of a method, of a class.
    "const f = value => ({ value })", "const f = ({ value = 1 }) => value",
    "const f = close => ({ close() {} })", "class A { value = 1\n f() { const value = 2 } }",
    "const f = () => { value = 1 }",
  ])
  func aNameThatCouldBeAnotherThingStays(script: String) {
    #expect(short(script) == script)
  }

  @Test func aBundleHasShortNamesForWhatAllModulesSee() {
    let script = """
      let client=await open(),segment=text=>text
      class Client{client(){segment(this)}}
      let modules={"view.js":async()=>{let list={segment:1,title:segment(list.segment)}
      if(list){segment(client)}
      return{list}}},reason=1
      f({reason})
      """
    let (short, names) = ShortNames.top(of: Array(script.utf8), prefix: "$")
    #expect(names == ["segment": "$a", "Client": "$c", "modules": "$b"])
    #expect(
      String(decoding: short, as: UTF8.self) == """
        let client=await open(),$a=text=>text
        class $c{client(){$a(this)}}
        let $b={"view.js":async()=>{let list={segment:1,title:$a(list.segment)}
        if(list){$a(client)}
        return{list}}},reason=1
        f({reason})
        """)
  }

  /// In a text, a name would stay, and find nothing under the new one.
  @Test func membersThatOnlyTheBundleKnowsStandInNoText() throws {
    let bundle = try #require(EmbeddedFile.all.first { $0.name == "bundle.js" }).bytes
    let words = Set(String(decoding: bundle, as: UTF8.self).matches(of: /\w+/).map { String($0.0) })
    #expect(ShortNames.members.filter(words.contains) == [])
    #expect(
      String(
        decoding: ShortNames.top(of: Array("f({forms})\na.forms=1".utf8), prefix: "$").script,
        as: UTF8.self)
        == "f({f_})\na.f_=1")
  }

  @Test func membersAndKeysAreNotVariables() {
    #expect(
      short(
        "const f = (value, key) => ({ value: key ? value : { key: 1 }, a: value.key, ...value })")
        == "const f = (a, b) => ({ value: b ? a : { key: 1 }, a: a.key, ...a })")
  }

  @Test func aLetterThatStandsThereIsNotTakenTwice() {
    #expect(short("const f = value => a(value, b)") == "const f = c => a(c, b)")
  }

  @Test func privateMembersAreShort() {
    #expect(
      short("class A { #count = 1; f() { return this.#count + other.#count + \"#count\" } }")
        == "class A { #a = 1; f() { return this.#a + other.#a + \"#count\" } }")
  }

  @Test func keysOfTextsAreShort() {
    let texts = """
      export const texts = {
        hello: "Hello",
        count: number => `${number}`,
        actions: { hello: 1 }
      }
      """
    let keys = ShortNames.keys(of: Array(texts.utf8))
    #expect(keys == ["hello": "a", "count": "b", "actions": "c"])
    #expect(
      short(texts, keys: keys) == """
        export const texts = {
          a: "Hello",
          b: a => `${a}`,
          c: { hello: 1 }
        }
        """)
    #expect(
      short("f(t.hello, ...t.count(x.t.hello), t.other)", keys: keys)
        == "f(t.a, ...t.b(x.t.hello), t.other)")
  }
}
