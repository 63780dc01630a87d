/**
 * Starts the app, whose modules the server puts into one script, `bundle.js`. If the script or its texts don't come, as
 * when something answers that is not the file, there is a button. To try again, every file of this visit is fetched past
 * the browser's cache, which may have kept it. What fails later has a code, and the app has shown it.
 */
const bundle = import("./bundle.js")
// The texts come beside the script, which waits for them.
import("./texts.js").catch(() => {})
bundle.catch(error => {
  if (error.code) return
  const button = document.createElement("button")
  button.textContent = { de: "Seite neu laden", ja: "再読み込み" }[navigator.language.slice(0, 2)] ?? "Load the page again"
  button.onclick = async () => {
    const names = performance.getEntriesByType("resource").map(({ name }) => name).filter(name => name.startsWith(location.origin + "/page/"))
    await Promise.allSettled(names.map(name => fetch(name, { cache: "reload" })))
    location.reload()
  }
  document.getElementById("main").replaceChildren(button)
})
