/**
 * Has the service worker keep the page for offline use. Pages that came by plain HTTP from elsewhere have none.
 * @param {(version: string) => void} updated A new version of the page is ready.
 */
export async function registerWorker(updated) {
  if (!navigator.serviceWorker) return
  navigator.serviceWorker.addEventListener("message", event => {
    if (event.data?.kind === "update") updated(event.data.version)
  })
  await navigator.serviceWorker.register("/worker.js", { scope: "/", updateViaCache: "none" })
}
