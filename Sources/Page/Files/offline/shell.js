/**
 * Registers the service worker, which keeps the app at `/` for offline use. Browsers have no service workers for pages by
 * plain HTTP from another machine.
 * @param {(version: string) => void} updated It is called when a new version of the page is ready.
 */
export async function registerWorker(updated) {
  if (!navigator.serviceWorker) return
  navigator.serviceWorker.addEventListener("message", event => {
    if (event.data?.kind === "update") updated(event.data.version)
  })
  await navigator.serviceWorker.register("/worker.js", { scope: "/", updateViaCache: "none" })
}
