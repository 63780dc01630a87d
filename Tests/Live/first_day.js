// The first day of an app with the client that openapi-generator makes for typescript-fetch.
// Arguments: the compiled client, the server's URL.
const assert = require("node:assert")
const { randomUUID } = require("node:crypto")
const client = require(process.argv[2])

const as = (token) => new client.Configuration({ basePath: process.argv[3], accessToken: token })
const password = "a good password"
const hotel = "hotel_25510"

async function day() {
  const anonymous = new client.AccountsApi(as())
  const guest = await anonymous.createGuest()
  const bookmarks = new client.BookmarksApi(as(guest.token))
  const found = await new client.HotelsApi(as(guest.token)).searchHotels({ description: "pool", location: "san francisco" })
  await bookmarks.putBookmark({ hotelID: hotel, hotel: found.hotels.find(({ id }) => id === hotel) })
  await bookmarks.putBookmark({ hotelID: found.hotels.find(({ id }) => id !== hotel).id })
  await bookmarks.deleteBookmark({ hotelID: found.hotels.find(({ id }) => id !== hotel).id })
  assert.deepEqual((await bookmarks.getMirror()).order, [hotel])
  assert.deepEqual((await bookmarks.listBookmarks()).bookmarks.map(({ id }) => id), [hotel])

  const names = [randomUUID(), randomUUID()]
  await new client.AccountsApi(as(guest.token)).signUp({ credentials: { username: names[0], password } })
  const other = await anonymous.signUp({ credentials: { username: names[1], password } })
  const own = await anonymous.logIn({ logIn: { username: names[0], password } })
  const [lists, theirs] = [new client.ListsApi(as(own.token)), new client.ListsApi(as(other.token))]
  const { id } = await lists.makeList({ newList: { title: "Trip" } })
  await lists.putNote({ listID: id, title: "a/b c", noteText: { markdown: "one" } })
  await lists.putNote({ listID: id, title: "a/b c", draft: true, noteText: { markdown: "two" } })
  assert.equal((await lists.publishNote({ listID: id, title: "a/b c" })).markdown, "two")
  const member = { listID: id, username: names[1] }
  const invited = await lists.putMember({ ...member, memberRole: { role: "editor" } })
  assert.equal((await theirs.acceptInvitation({ token: invited.id })).role, "editor")
  await lists.putMember({ ...member, memberRole: { role: "reader" } })
  const offered = await lists.changeList({ listID: id, listChange: { owner: names[1] } })
  assert.equal(offered.title, "Trip")

  const saved = await new client.AccountsApi(as(own.token)).exportMe()
  const read = await new client.AccountsApi(as(other.token)).importMe({ body: saved })
  assert.ok(read.documents > 0)
  const refused = await anonymous.logIn({ logIn: { username: names[0], password: "a wrong password" } }).catch((error) => error)
  assert.equal(refused.response.status, 401)
  console.log("done")
}

day()
