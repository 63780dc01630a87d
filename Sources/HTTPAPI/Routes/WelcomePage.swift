/// The page at `/`: what this is, and a way to try it. It keeps a guest's token in the browser's storage.
enum WelcomePage {
  /// The page's bytes.
  static let html = Array(text.utf8)

  private static let text = #"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Hotel Bookmarks</title>
    <style>
      :root { color-scheme: light dark; --accent: #b3261e; }
      body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
      form { display: flex; gap: .5rem; flex-wrap: wrap; }
      input { flex: 1 1 12rem; font: inherit; padding: .5rem; }
      button { font: inherit; padding: .5rem .9rem; cursor: pointer; }
      ul { list-style: none; padding: 0; }
      li { display: flex; justify-content: space-between; align-items: center; gap: 1rem; padding: .6rem 0; border-top: 1px solid #8884; }
      small { opacity: .75; display: block; }
      #status { min-height: 1.5em; color: var(--accent); }
    </style>
    </head>
    <body>
    <h1>Hotel Bookmarks</h1>
    <p>A private document store for every guest and user, a hotel search, and bookmarks that survive being
    offline. This page is a guest of this server: search, bookmark, reload.
    The interface is described in <a href="openapi.yaml">openapi.yaml</a>.</p>
    <form id="search">
      <input name="description" placeholder="What: pool, breakfast …" aria-label="What">
      <input name="location" placeholder="Where: San Francisco, Paris …" aria-label="Where">
      <button>Search</button>
    </form>
    <p id="status" role="status"></p>
    <h2>Your bookmarks</h2><ul id="bookmarks"></ul>
    <h2>Hotels</h2><ul id="hotels"></ul>
    <script>
    "use strict";
    const $ = id => document.getElementById(id);
    const key = "hotel-bookmarks-guest";
    const say = text => { $("status").textContent = text; };
    async function call(method, path, body) {
      const token = localStorage.getItem(key);
      const headers = token ? { authorization: "Bearer " + token } : {};
      if (body) headers["content-type"] = "application/json";
      const answer = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
      if (answer.status === 401 && token) { localStorage.removeItem(key); await enter(); return call(method, path, body); }
      const text = await answer.text();
      const value = text ? JSON.parse(text) : {};
      if (!answer.ok) throw new Error(value.reason || answer.statusText);
      return value;
    }
    async function enter() {
      if (localStorage.getItem(key)) return;
      localStorage.setItem(key, (await call("POST", "v1/guests")).token);
    }
    function row(hotel, label, act) {
      const item = document.createElement("li"), words = document.createElement("div");
      const name = document.createElement("strong"), place = document.createElement("small");
      const button = document.createElement("button");
      name.textContent = hotel.name || hotel.id;
      place.textContent = [hotel.address, hotel.city, hotel.state, hotel.country].filter(Boolean).join(", ");
      button.textContent = label;
      button.onclick = () => run(act);
      words.append(name, place);
      item.append(words, button);
      return item;
    }
    async function run(act) { try { say(""); await act(); } catch (error) { say(error.message); } }
    async function find() {
      const query = new URLSearchParams(new FormData($("search")));
      const page = await call("GET", "v1/hotels?" + query);
      $("hotels").replaceChildren(...page.hotels.map(hotel => row(
        hotel, hotel.bookmarked ? "Remove" : "Bookmark",
        async () => {
          await call(hotel.bookmarked ? "DELETE" : "PUT", "v1/bookmarks/" + encodeURIComponent(hotel.id));
          await Promise.all([find(), list()]);
        })));
      if (!page.hotels.length) say("No hotel matches.");
    }
    async function list() {
      const page = await call("GET", "v1/bookmarks");
      $("bookmarks").replaceChildren(...page.bookmarks.map(bookmark => row(
        Object.assign({}, bookmark.hotel, { id: bookmark.id }), "Remove",
        async () => {
          await call("DELETE", "v1/bookmarks/" + encodeURIComponent(bookmark.id));
          await Promise.all([find(), list()]);
        })));
    }
    $("search").onsubmit = event => { event.preventDefault(); run(find); };
    run(async () => { await enter(); await Promise.all([find(), list()]); });
    </script>
    </body>
    </html>
    """#
}
