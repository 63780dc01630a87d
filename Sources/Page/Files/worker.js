/**
 * The service worker. It keeps the app's files, so that the app opens without a network. It answers the app's own views
 * and files alone, and never stores an answer of the API. `/?network` is left to the network: there a person reaches the
 * page of whatever answers in the server's place.
 *
 * `/shell.json` names the version, its files and their digests. Each file has the version in its URL. A version is used
 * when all of its files are here, each with its digest; then `/shell.json` is stored, which makes the version the present
 * one. So an answer that is not the file, as a proxy's page or another version's, is never kept. Each visit begins with
 * the present version, and looks for a new one, which the next visit uses. The version before the present one is kept
 * for the visits that began with it.
 */
const manifest = "/shell.json"
/** The cache that has `/shell.json` of the present version, and the prefix of the caches that have the files of one. */
const present = "page", prefix = "page-"
/** The paths of the app's views, as in `app.js`. All others belong to other pages. */
const views = /^\/(?:|bookmarks|bookmarks\/[^/]+\/history|hotels\/[^/]+|lists|lists\/[^/]+(?:\/members|\/drafts|\/history|\/notes\/[^/]+)?|invitations\/[^/]+|outbox|account|log-in|sign-up|reset)$/
const files = /^\/page\/[0-9a-f]{32}\//
/** The texts in one language. Of these, the worker keeps those of the browser's, as `texts.js` chooses them. */
const texts = /\/texts-(\w+)\.js$/, known = ["en", "de", "ja"]
const language = navigator.languages.map(it => it.split("-")[0]).find(it => known.includes(it)) ?? "en"
const isMeant = ({ path }) => (texts.exec(path)?.[1] ?? language) === language

addEventListener("install", event => event.waitUntil(update().then(() => skipWaiting())))
addEventListener("activate", event => event.waitUntil(clients.claim()))

addEventListener("fetch", event => {
  const { request } = event
  const { origin, pathname, search } = new URL(request.url)
  if (request.method !== "GET" || origin !== location.origin) return
  if (request.mode !== "navigate") {
    if (files.test(pathname)) event.respondWith(file(request))
  } else if (views.test(pathname) && search !== "?network") {
    event.respondWith(view(request))
    // Without a network the stored version stays.
    event.waitUntil(update().catch(() => {}))
  }
})

/** The page of the present version, or else the server's answer. */
async function view(request) {
  const version = await current()
  return await version?.cache.match(version.page) ?? fetch(request)
}

/** A file of any version that is kept, or else the server's answer. */
async function file(request) {
  return await caches.match(request.url) ?? fetch(request)
}

/** The present version; undefined if there is none, or if any of its files is missing but texts. */
async function current() {
  const kept = await caches.match(manifest, { cacheName: present })
  if (!kept) return undefined
  const { version, page, files } = await kept.json()
  const cache = await caches.open(prefix + version)
  const paths = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname))
  return files.every(({ path }) => texts.test(path) || paths.has(path)) ? { version, page, cache, paths } : undefined
}

let updating = Promise.resolve()
/** Stores the server's present version, if it is not stored yet. Each visit asks anew, after the update before it. */
function update() {
  return updating = updating.catch(() => {}).then(store)
}

async function store() {
  const list = await fetch(manifest, { cache: "no-store" })
  if (!list.ok) throw new Error(`${manifest}: ${list.status}`)
  const { version, files: all } = await list.clone().json()
  const files = all.filter(isMeant), former = await current()
  if (former?.version === version && files.every(({ path }) => former.paths.has(path))) return
  // One after the other: a file that is missing ends it, without answers that nobody reads, and a first visit goes before.
  const answers = []
  for (const file of files) answers.push(await whole(file))
  const cache = await caches.open(prefix + version)
  await Promise.all(files.map(({ path }, at) => cache.put(path, answers[at])))
  await (await caches.open(present)).put(manifest, list)
  const kept = [present, prefix + version, prefix + former?.version]
  for (const name of await caches.keys()) {
    if (/^(page|shell)-/.test(name) && !kept.includes(name)) await caches.delete(name)
  }
  if (!former || former.version === version) return
  for (const client of await clients.matchAll()) client.postMessage({ kind: "update", version })
}

/** A file with the digest that it must have. A wrong one may come from the browser's own cache. */
async function whole({ path, sha256 }) {
  for (const cache of ["default", "reload"]) {
    const answer = await fetch(path, { cache })
    const bytes = await answer.arrayBuffer()
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))
    if (Array.from(digest, byte => byte.toString(16).padStart(2, "0")).join("") !== sha256) continue
    const headers = new Headers(answer.headers)
    headers.delete("content-encoding")
    return new Response(bytes, { headers })
  }
  throw new Error(`${path} is not what ${manifest} says`)
}
