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
        b: 2 * 3, // kept,
        c: "//",
        d: [4,
          5]
      }

      const e = f => f?.a === "b  : \\" c" && f
        || a ? `${ a ? `- ${ a } ` : " ; " } : b` : - 1 + + 2
      const g = a, h = g / 2 > 1, i = / = "/.test( a )
      """
    let served = PageSource.script(Array(source.utf8))
    #expect(
      String(decoding: served, as: UTF8.self) == """
        export const a={b:2 * 3,// kept,
        c:"//",
        d:[4,5]}
        const e=f=>f?.a==="b  : \\" c"&&f
        ||a?`${a?`- ${a} `:" ; "} : b`:- 1 + + 2
        const g=a,h=g / 2 > 1, i = / = "/.test( a )

        """)
  }

  @Test func aStyleSheetKeepsTheSpacesThatMeanSomething() {
    let source = "/* Bars. */\n.a .b, .c :hover { margin: 0 calc(1px + 2px); color: red; }\n"
    let served = PageSource.style(Array(source.utf8))
    #expect(
      String(decoding: served, as: UTF8.self)
        == ".a .b,.c :hover{margin:0 calc(1px + 2px);color:red}")
  }

  @Test func eachPageIsSmall() {
    func bytes(_ isMeant: (String) -> Bool) -> Int {
      EmbeddedFile.all.filter {
        isMeant($0.name)
          && [".js", ".css", ".html"].contains(where: $0.name.hasSuffix)
      }.reduce(0) { $0 + $1.bytes.count }
    }
    let app = bytes {
      ["index.html", "base.css", "app.css", "boot.js", "bundle.js", "worker.js"].contains($0)
    }
    let docs = bytes { $0.hasPrefix("docs") }
    let admin = bytes { $0.hasPrefix("admin") }
    let shared = bytes { $0.hasPrefix("shared") }
    #expect((1..<200_000).contains(app), "\(app)")
    #expect((1..<100 * 1024).contains(docs), "\(docs)")
    #expect((1..<100 * 1024).contains(admin), "\(admin)")
    #expect((1..<10 * 1024).contains(shared), "\(shared)")
  }
}
