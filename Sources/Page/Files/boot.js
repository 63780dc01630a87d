/** Starts the app. If that fails, shows the reason: for example, a private window without storage. */
import("./app.js").catch(async error => {
  const { failure } = await import("./states.js")
  document.getElementById("main").replaceChildren(failure(error, () => location.reload()))
})
