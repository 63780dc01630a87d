/** Hotel Bookmarks for web pages, offline first. `offline.d.ts` describes every function, value, event and error. */
import { Client } from "./offline/client.js"
import { Database } from "./offline/database.js"
import { OfflineError } from "./offline/error.js"
import { useServer } from "./offline/server.js"

export { Client, OfflineError }

/** Opens this browser's copy and starts to sync. @returns {Promise<Client>} @throws {OfflineError} */
export async function open(options = {}) {
  useServer(options.server)
  const client = new Client(await Database.open(), options)
  await client.begin()
  return client
}
