import Foundation
import Testing

@testable import Page

@Suite struct ModuleBundleTests {
  @Test func importedModulesAreOneScopeAndOthersAreFunctionsInIt() {
    let modules = [
      "app.js": """
      import { h } from "./dom.js"
      import { Client } from "./offline/client.js"
      const show = () => h(Client)
      const routes = [() => import("./view.js"), () => import("./coast.js")]
      export { show }
      """,
      "dom.js": """
      export const h = (a) => a
      export function text() { return "import" }
      """,
      "offline/client.js": """
      import { near } from "../offline/near.js"
      export class Client extends near {}
      export async function open(a) {}
      """,
      "offline/near.js": "export const near = Object",
      "view.js": """
      import { h, text } from "./dom.js"
      import { more } from "./more.js"
      const own = more
      export async function show() { return h(text, own) }
      """,
      "more.js": "export const more = 2",
      "other.js": "export const other = 1",
    ].mapValues { Array($0.utf8) }
    let script = ModuleBundle.script(from: "app.js", of: modules, served: PageSource.script)
    #expect(
      String(decoding: script, as: UTF8.self) == """
        let h=(a)=>a
        function $g(){return "import"}
        let $f=Object
        class $b extends $f{}
        async function open(a){}
        let $e=2
        let $c=[],$a=[
        async()=>{let _a=$e
        async function show(){return h($g,_a)}
        return{show}},
        ],$d=number=>$c[number]??=$a[number]()
        let show=()=>h($b),$h=[()=>$d(0),()=>import("./coast.js")]
        export{show}

        """)
  }

  @Test func modulesOfThePageUseOnlyWhatTheBundleUnderstands() {
    let understood = [
      "import{", "import(", "export{", "export let ", "export function ",
      "export async function ",
      "export class ",
    ]
    for file in EmbeddedFile.all where file.name.hasSuffix(".js") && file.name != "bundle.js" {
      for line in String(decoding: file.bytes, as: UTF8.self).split(separator: "\n")
      where line.hasPrefix("import") || line.hasPrefix("export") {
        #expect(understood.contains(where: line.hasPrefix), "\(file.name): \(line.prefix(80))")
      }
    }
  }

  /// A browser refuses a script that declares a name twice: the page would stay empty.
  @Test func importedModulesDeclareEachNameOnce() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Sources/Page/Files")
    var (imported, later, owners): (Set<String>, [String], [String: String]) = ([], ["app.js"], [:])
    var waiting = later
    while let name = waiting.popLast() {
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      for match in text.matches(of: /(from |import\()"\.(\.?)\/([\w\/-]+\.js)"/) {
        let inFolder = name.hasPrefix("offline/") && match.2.isEmpty ? "offline/" : ""
        let other = inFolder + match.3
        if match.1 == "from " {
          if imported.insert(other).inserted { waiting.append(other) }
        } else if !later.contains(other) {
          later.append(other)
          waiting.append(other)
        }
      }
    }
    #expect(imported.contains("offline/words.js") && later.contains("view-search.js"))
    for name in imported {
      let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
      let names = text.matches(
        of: /^(?:export )?(?:const|let|class|(?:async )?function\*?) (\w+)/
          .anchorsMatchLineEndings())
      for declared in names {
        let other = owners.updateValue(name, forKey: String(declared.1))
        #expect(other == nil, "\(declared.1)")
      }
    }
  }
}
