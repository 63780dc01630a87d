import Testing

@testable import Page

@Suite struct PageSourceTests {
  @Test func aScriptLosesCommentsIndentationAndSpacesBesideSigns() {
    let source = """
      /**
       * Says what.
       *
       */
      // More of it.
      export const a = {
        b: 2 * 3, // removed,
        c: "//",
        d: [4,
          5]
      }

      const e = f => f?.a === "b  : \\" c" && f
        || a ? `${ a ? `- ${ a } ` : " ; " } : b` : - 1 + + 2
      const g = a, h = g / 2 > 1, i = / = "/.test( a )
      const { r } = /s/ in a
      const j = "}" + 1
      const k = () => {
        const l = [1]
        const m = 2
        let n
        for (const o of l) n += o
        return n
      }
      const p = 3; q()
      const isconst = 4
      isconst
        ?? k
        .map(1)
        ? 2
        : 3
      """
    let served = PageSource.script(Array(source.utf8))
    #expect(
      String(decoding: served, as: UTF8.self) == """
        export let a={b:2*3,c:"//",d:[4,5]}
        let e=f=>f?.a==="b  : \\" c"&&f||a?`${a?`- ${a} `:" ; "} : b`:-1+ +2
        let g=a,h=g/2>1,i=/ = "/.test(a),{r}=/s/ in a,j="}"+1,k=()=>{let l=[1],m=2,n
        for(let o of l)n+=o
        return n}
        let p=3;q()
        let isconst=4
        isconst??k.map(1)?2:3

        """)
  }

  @Test func aStyleSheetKeepsTheSpacesThatMeanSomething() {
    let source = "/* Bars. */\n.a > .b, .c :hover { top: calc(1px + 2px) !important; left: 0; }\n"
    let served = PageSource.style(Array(source.utf8))
    #expect(
      String(decoding: served, as: UTF8.self)
        == ".a>.b,.c :hover{top:calc(1px + 2px)!important;left:0}")
  }

  @Test func propertiesOfAllStyleSheetsHaveTheSameShortNames() {
    let sheets = [
      ":root { --ink: red; --ink-2: var(--ink); }",
      ".a--ink { color: var(--ink-2, --x); } /* -- */",
    ].map { Array($0.utf8) }
    let properties = CustomProperties(of: sheets)
    #expect(
      sheets.map { String(decoding: properties.shortened($0), as: UTF8.self) } == [
        ":root { --a: red; --b: var(--a); }", ".a--ink { color: var(--b, --c); } /* -- */",
      ])
  }

  @Test func aScriptNamesAPropertyInQuotes() {
    let properties = CustomProperties(of: [Array(":root { --ink: red; --line: 1px }".utf8)])
    let script = Array(#"read("--line", "--other", "a --ink"); while (--ink) count--"#.utf8)
    #expect(
      String(decoding: properties.shortened(script: script), as: UTF8.self)
        == #"read("--b", "--other", "a --ink"); while (--ink) count--"#)
  }

  @Test func scriptsNameOnlyPropertiesOfStyleSheets() throws {
    let files = EmbeddedFile.all.map { ($0.name, String(decoding: $0.bytes, as: UTF8.self)) }
    let sheets = files.filter { $0.0.hasSuffix(".css") }.map(\.1).joined()
    let known = Set(sheets.matches(of: /(--[a-zA-Z0-9-]+):/).map { String($0.1) })
    let named = files.filter { $0.0.hasSuffix(".js") }.flatMap { file in
      file.1.matches(of: /"(--[a-zA-Z0-9-]+)"/).map { String($0.1) }
    }
    #expect(named.count > 4 && Set(named).isSubset(of: known), "\(named)")
  }

  /// ``ModuleBundle`` looks at lines: the second line of a text may begin as an import does.
  @Test func noTextOfAScriptHasALineBreak() {
    let broken = EmbeddedFile.all.filter { $0.name.hasSuffix(".js") }.filter { file in
      ScriptToken.all(of: file.bytes).contains {
        $0.kind == .text && file.bytes[$0.range].contains(UInt8(ascii: "\n"))
      }
    }
    #expect(broken.map(\.name) == [])
  }

  @Test func eachPageIsSmall() {
    func bytes(_ isMeant: (String) -> Bool) -> Int {
      EmbeddedFile.all.filter {
        isMeant($0.name)
          && [".js", ".css", ".html"].contains(where: $0.name.hasSuffix)
      }.reduce(0) { $0 + $1.bytes.count }
    }
    let app = bytes {
      [
        "index.html", "base.css", "app.css", "boot.js", "bundle.js", "coast.js", "texts.js",
        "worker.js",
      ].contains($0)
    }
    // A visitor has one language.
    let texts = ["de", "en", "ja"].map { language in bytes { $0 == "texts-\(language).js" } }
    let docs = bytes { $0.hasPrefix("docs") }
    let admin = bytes { $0.hasPrefix("admin") }
    let shared = bytes { $0.hasPrefix("shared") }
    let most = app + (texts.max() ?? 0)
    #expect(texts.allSatisfy { $0 > 10_000 } && most < 200_000, "\(app) and \(texts)")
    #expect((1..<100 * 1024).contains(docs), "\(docs)")
    #expect((1..<100 * 1024).contains(admin), "\(admin)")
    #expect((1..<20 * 1024).contains(shared), "\(shared)")
  }
}
