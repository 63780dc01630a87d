/**
 * The service worker. It stores the page's files, so that the page opens without a network. It never stores an answer
 * of the API.
 *
 * `/shell.json` names the files and the version. Each version has its own cache. `/shell.json` is stored last, so a
 * cache that has it is complete. Requests for the page are answered from the newest complete cache. Each visit also
 * checks for a new version, which the next visit uses.
 */
const prefix = "shell-"
const manifest = "/shell.json"
/** The paths that are not the page's; the worker does not answer requests for them. */
const elsewhere = /^\/(v1|couch|api|docs|admin|openapi|metrics|healthz|readyz)([./]|$)/

addEventListener("install", event => event.waitUntil(update().then(() => skipWaiting())))
addEventListener("activate", event => event.waitUntil(clients.claim()))

addEventListener("fetch", event => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== "GET" || url.origin !== location.origin || elsewhere.test(url.pathname)) return
  if (request.mode === "navigate") {
    event.respondWith(answer([url.pathname, "/"], request))
    // Without a network the stored version stays.
    event.waitUntil(update().catch(() => {}))
  } else if (url.pathname !== manifest) {
    event.respondWith(answer([url.pathname], request))
  }
})

/** The first stored file among the paths, or else the server's answer. Every view of the app is the page `/`. */
async function answer(paths, request) {
  const cache = await current()
  for (const path of cache ? paths : []) {
    const kept = await cache.match(path)
    if (kept) return kept
  }
  return fetch(request)
}

/** The newest complete cache; undefined if there is none. */
async function current() {
  for (const name of (await caches.keys()).filter(name => name.startsWith(prefix)).reverse()) {
    const cache = await caches.open(name)
    if (await cache.match(manifest)) return cache
  }
}

/** Stores the server's present version, if it is not stored yet. */
async function update() {
  const list = await fetch(manifest, { cache: "no-store" })
  if (!list.ok) throw new Error(`${manifest}: ${list.status}`)
  const { version, files } = await list.clone().json()
  const name = prefix + version
  const former = await current()
  const cache = await caches.open(name)
  if (!(await cache.match(manifest))) {
    await cache.addAll(files.map(file => new Request(file, { cache: "no-cache" })))
    await cache.put(manifest, list)
  }
  const others = (await caches.keys()).filter(other => other.startsWith(prefix) && other !== name)
  for (const other of others) await caches.delete(other)
  if (!former || !others.length) return
  for (const client of await clients.matchAll()) client.postMessage({ kind: "update", version })
}
