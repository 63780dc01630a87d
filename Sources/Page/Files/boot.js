/** Starts the app, and says so where that cannot be done: in a private window, say, that keeps nothing. */
import("./app.js").catch(async error => {
  const { failure } = await import("./states.js")
  document.getElementById("main").replaceChildren(failure(error, () => location.reload()))
})
