import Testing

@testable import Page

@Suite struct ModuleBundleTests {
  @Test func eachModuleBecomesAFunctionThatReturnsWhatItExports() {
    let modules = [
      "app.js": """
      import { h, text as words } from "./dom.js"
      import { Client } from "./offline/client.js"
      const show = () => h(words, Client)
      const routes = [() => import("./view.js"), () => import("./dom.js")]
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
      "view.js": "import { h, text } from \"./dom.js\"\nexport { h, text }",
      "other.js": "export const other = 1",
    ].mapValues { PageSource.script(Array($0.utf8)) }
    #expect(
      String(decoding: ModuleBundle.script(from: "app.js", of: modules), as: UTF8.self) == """
        const loaded={},modules={
        "app.js":async()=>{const{h,text:words}=await load("dom.js")
        const{Client}=await load("offline/client.js")
        const show=()=>h(words,Client)
        const routes=[()=>load("view.js"),()=>load("dom.js")]
        return{}},
        "view.js":async()=>{const{h,text}=await load("dom.js")
        return{h,text,}},
        "offline/client.js":async()=>{const{near}=await load("offline/near.js")
        class Client extends near{}
        async function open(a){}
        return{Client,open,}},
        "offline/near.js":async()=>{const near=Object
        return{near,}},
        "dom.js":async()=>{const h=(a)=>a
        function text(){return "import"}
        return{h,text,}},
        }
        export const load=name=>loaded[name]??=modules[name]()

        """)
  }

  @Test func modulesOfThePageUseOnlyWhatTheBundleUnderstands() {
    let understood = [
      "import{", "import(", "export{", "export const ", "export function ",
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
}
