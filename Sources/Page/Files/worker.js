/**
 * The service worker: keeps the page's files, so that the page opens without a network. It keeps no answer of the API.
 *
 * `/shell.json` says which files belong together and in which version. A version is kept whole or not at all: its files
 * are fetched into a cache of their own, and the list itself comes last. The page is answered from there at once; each
 * visit looks whether there is a new version, which the next visit gets.
 */
const prefix = "shell-"
const manifest = "/shell.json"
/** What is never the page's, whatever asks for it. */
const elsewhere = /^\/(v1|couch|api|docs|admin|openapi|metrics|healthz|readyz)([./]|$)/

addEventListener("install", event => event.waitUntil(update().then(() => skipWaiting())))
addEventListener("activate", event => event.waitUntil(clients.claim()))

addEventListener("fetch", event => {
  const { request } = event
  const url = new URL(request.url)
  if (request.method !== "GET" || url.origin !== location.origin || elsewhere.test(url.pathname)) return
  if (request.mode === "navigate") {
    event.respondWith(answer([url.pathname, "/"], request))
    // Without a network the former version stays.
    event.waitUntil(update().catch(() => {}))
  } else if (url.pathname !== manifest) {
    event.respondWith(answer([url.pathname], request))
  }
})

/** The first of some paths that is kept; every view of the app is the page at `/`. */
async function answer(paths, request) {
  const cache = await current()
  for (const path of cache ? paths : []) {
    const kept = await cache.match(path)
    if (kept) return kept
  }
  return fetch(request)
}

/** The cache of the version that is whole; undefined where there is none. */
async function current() {
  for (const name of (await caches.keys()).filter(name => name.startsWith(prefix)).reverse()) {
    const cache = await caches.open(name)
    if (await cache.match(manifest)) return cache
  }
}

/** Keeps the present version, if it is another one than is kept. */
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
