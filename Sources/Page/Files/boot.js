/**
 * Starts the app, whose modules the server puts into one script, `bundle.js`. If that fails, shows the reason: for
 * example, a private window without storage, or an answer that is not the file. To try again, every file of this visit is
 * fetched past the browser's cache, which may have kept it.
 */
import("./bundle.js").catch(async error => {
  const again = async () => {
    const names = performance.getEntriesByType("resource").map(({ name }) => name).filter(name => name.startsWith(location.origin + "/page/"))
    await Promise.allSettled(names.map(name => fetch(name, { cache: "reload" })))
    location.reload()
  }
  const main = document.getElementById("main")
  try {
    // Without a code, the script did not come.
    if (!error.code) throw error
    const { failure } = await import("./states.js")
    main.replaceChildren(failure(error, again))
  } catch {
    const button = document.createElement("button")
    button.textContent = "Load the page again"
    button.onclick = again
    main.replaceChildren(button)
  }
})
