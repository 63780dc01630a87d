#include "CEmbedded.h"
#include "book.h"
#include "tools.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// Each file has three lines here and one line in the table below. The compiler records it as a dependency of this
// source file, so that a build includes a changed file.
#define BYTES static const unsigned char

BYTES index_html[] = {
#embed "../Page/Files/index.html"
};
BYTES annotate_js[] = {
#embed "../Page/Files/annotate.js"
};
BYTES app_css[] = {
#embed "../Page/Files/app.css"
};
BYTES app_js[] = {
#embed "../Page/Files/app.js"
};
BYTES app_de_webmanifest[] = {
#embed "../Page/Files/app-de.webmanifest"
};
BYTES app_ja_webmanifest[] = {
#embed "../Page/Files/app-ja.webmanifest"
};
BYTES app_webmanifest[] = {
#embed "../Page/Files/app.webmanifest"
};
BYTES art_js[] = {
#embed "../Page/Files/art.js"
};
BYTES base_css[] = {
#embed "../Page/Files/base.css"
};
BYTES boot_js[] = {
#embed "../Page/Files/boot.js"
};
BYTES cards_js[] = {
#embed "../Page/Files/cards.js"
};
BYTES client_js[] = {
#embed "../Page/Files/client.js"
};
BYTES coast_js[] = {
#embed "../Page/Files/coast.js"
};
BYTES dates_js[] = {
#embed "../Page/Files/dates.js"
};
BYTES dom_js[] = {
#embed "../Page/Files/dom.js"
};
BYTES facts_js[] = {
#embed "../Page/Files/facts.js"
};
BYTES frame_js[] = {
#embed "../Page/Files/frame.js"
};
BYTES geo_js[] = {
#embed "../Page/Files/geo.js"
};
BYTES icon_192_png[] = {
#embed "../Page/Files/icon-192.png"
};
BYTES icon_512_png[] = {
#embed "../Page/Files/icon-512.png"
};
BYTES icon_svg[] = {
#embed "../Page/Files/icon.svg"
};
BYTES list_head_js[] = {
#embed "../Page/Files/list-head.js"
};
BYTES map_js[] = {
#embed "../Page/Files/map.js"
};
BYTES map_picture_js[] = {
#embed "../Page/Files/map-picture.js"
};
BYTES markdown_js[] = {
#embed "../Page/Files/markdown.js"
};
BYTES messages_js[] = {
#embed "../Page/Files/messages.js"
};
BYTES offline_js[] = {
#embed "../Page/Files/offline.js"
};
BYTES offline_d_ts[] = {
#embed "../Page/Files/offline.d.ts"
};
BYTES offline_actions_js[] = {
#embed "../Page/Files/offline/actions.js"
};
BYTES offline_client_js[] = {
#embed "../Page/Files/offline/client.js"
};
BYTES offline_copy_js[] = {
#embed "../Page/Files/offline/copy.js"
};
BYTES offline_database_js[] = {
#embed "../Page/Files/offline/database.js"
};
BYTES offline_error_js[] = {
#embed "../Page/Files/offline/error.js"
};
BYTES offline_feed_js[] = {
#embed "../Page/Files/offline/feed.js"
};
BYTES offline_find_js[] = {
#embed "../Page/Files/offline/find.js"
};
BYTES offline_hotels_js[] = {
#embed "../Page/Files/offline/hotels.js"
};
BYTES offline_outbox_js[] = {
#embed "../Page/Files/offline/outbox.js"
};
BYTES offline_parts_js[] = {
#embed "../Page/Files/offline/parts.js"
};
BYTES offline_photos_js[] = {
#embed "../Page/Files/offline/photos.js"
};
BYTES offline_places_js[] = {
#embed "../Page/Files/offline/places.js"
};
BYTES offline_server_js[] = {
#embed "../Page/Files/offline/server.js"
};
BYTES offline_session_js[] = {
#embed "../Page/Files/offline/session.js"
};
BYTES offline_shell_js[] = {
#embed "../Page/Files/offline/shell.js"
};
BYTES offline_synchroniser_js[] = {
#embed "../Page/Files/offline/synchroniser.js"
};
BYTES offline_tabs_js[] = {
#embed "../Page/Files/offline/tabs.js"
};
BYTES offline_view_js[] = {
#embed "../Page/Files/offline/view.js"
};
BYTES offline_words_js[] = {
#embed "../Page/Files/offline/words.js"
};
BYTES people_js[] = {
#embed "../Page/Files/people.js"
};
BYTES photos_js[] = {
#embed "../Page/Files/photos.js"
};
BYTES places_txt[] = {
#embed "../Page/Files/places.txt"
};
BYTES reasons_js[] = {
#embed "../Page/Files/reasons.js"
};
BYTES router_js[] = {
#embed "../Page/Files/router.js"
};
BYTES shared_html[] = {
#embed "../Page/Files/shared.html"
};
BYTES shared_js[] = {
#embed "../Page/Files/shared.js"
};
BYTES states_js[] = {
#embed "../Page/Files/states.js"
};
BYTES sync_js[] = {
#embed "../Page/Files/sync.js"
};
BYTES texts_de_js[] = {
#embed "../Page/Files/texts-de.js"
};
BYTES texts_en_js[] = {
#embed "../Page/Files/texts-en.js"
};
BYTES texts_ja_js[] = {
#embed "../Page/Files/texts-ja.js"
};
BYTES texts_js[] = {
#embed "../Page/Files/texts.js"
};
BYTES tiles_js[] = {
#embed "../Page/Files/tiles.js"
};
BYTES to_lists_js[] = {
#embed "../Page/Files/to-lists.js"
};
BYTES view_account_js[] = {
#embed "../Page/Files/view-account.js"
};
BYTES view_bookmarks_js[] = {
#embed "../Page/Files/view-bookmarks.js"
};
BYTES view_changes_js[] = {
#embed "../Page/Files/view-changes.js"
};
BYTES view_drafts_js[] = {
#embed "../Page/Files/view-drafts.js"
};
BYTES view_enter_js[] = {
#embed "../Page/Files/view-enter.js"
};
BYTES view_history_js[] = {
#embed "../Page/Files/view-history.js"
};
BYTES view_hotel_js[] = {
#embed "../Page/Files/view-hotel.js"
};
BYTES view_invitation_js[] = {
#embed "../Page/Files/view-invitation.js"
};
BYTES view_list_js[] = {
#embed "../Page/Files/view-list.js"
};
BYTES view_lists_js[] = {
#embed "../Page/Files/view-lists.js"
};
BYTES view_members_js[] = {
#embed "../Page/Files/view-members.js"
};
BYTES view_note_js[] = {
#embed "../Page/Files/view-note.js"
};
BYTES view_nowhere_js[] = {
#embed "../Page/Files/view-nowhere.js"
};
BYTES view_outbox_js[] = {
#embed "../Page/Files/view-outbox.js"
};
BYTES view_reset_js[] = {
#embed "../Page/Files/view-reset.js"
};
BYTES view_search_js[] = {
#embed "../Page/Files/view-search.js"
};
BYTES worker_js[] = {
#embed "../Page/Files/worker.js"
};

#define FILE(name, bytes) {name, bytes, sizeof(bytes)}

static const cembedded_page_file files[] = {
    FILE("index.html", index_html),
    FILE("annotate.js", annotate_js),
    FILE("app.css", app_css),
    FILE("app.js", app_js),
    FILE("app-de.webmanifest", app_de_webmanifest),
    FILE("app-ja.webmanifest", app_ja_webmanifest),
    FILE("app.webmanifest", app_webmanifest),
    FILE("art.js", art_js),
    FILE("base.css", base_css),
    FILE("boot.js", boot_js),
    FILE("cards.js", cards_js),
    FILE("client.js", client_js),
    FILE("coast.js", coast_js),
    FILE("dates.js", dates_js),
    FILE("dom.js", dom_js),
    FILE("facts.js", facts_js),
    FILE("frame.js", frame_js),
    FILE("geo.js", geo_js),
    FILE("icon-192.png", icon_192_png),
    FILE("icon-512.png", icon_512_png),
    FILE("icon.svg", icon_svg),
    FILE("list-head.js", list_head_js),
    FILE("map.js", map_js),
    FILE("map-picture.js", map_picture_js),
    FILE("markdown.js", markdown_js),
    FILE("messages.js", messages_js),
    FILE("offline.js", offline_js),
    FILE("offline.d.ts", offline_d_ts),
    FILE("offline/actions.js", offline_actions_js),
    FILE("offline/client.js", offline_client_js),
    FILE("offline/copy.js", offline_copy_js),
    FILE("offline/database.js", offline_database_js),
    FILE("offline/error.js", offline_error_js),
    FILE("offline/feed.js", offline_feed_js),
    FILE("offline/find.js", offline_find_js),
    FILE("offline/hotels.js", offline_hotels_js),
    FILE("offline/outbox.js", offline_outbox_js),
    FILE("offline/parts.js", offline_parts_js),
    FILE("offline/photos.js", offline_photos_js),
    FILE("offline/places.js", offline_places_js),
    FILE("offline/server.js", offline_server_js),
    FILE("offline/session.js", offline_session_js),
    FILE("offline/shell.js", offline_shell_js),
    FILE("offline/synchroniser.js", offline_synchroniser_js),
    FILE("offline/tabs.js", offline_tabs_js),
    FILE("offline/view.js", offline_view_js),
    FILE("offline/words.js", offline_words_js),
    FILE("people.js", people_js),
    FILE("photos.js", photos_js),
    FILE("places.txt", places_txt),
    FILE("reasons.js", reasons_js),
    FILE("router.js", router_js),
    FILE("shared.html", shared_html),
    FILE("shared.js", shared_js),
    FILE("states.js", states_js),
    FILE("sync.js", sync_js),
    FILE("texts-de.js", texts_de_js),
    FILE("texts-en.js", texts_en_js),
    FILE("texts-ja.js", texts_ja_js),
    FILE("texts.js", texts_js),
    FILE("tiles.js", tiles_js),
    FILE("to-lists.js", to_lists_js),
    FILE("view-account.js", view_account_js),
    FILE("view-bookmarks.js", view_bookmarks_js),
    FILE("view-changes.js", view_changes_js),
    FILE("view-drafts.js", view_drafts_js),
    FILE("view-enter.js", view_enter_js),
    FILE("view-history.js", view_history_js),
    FILE("view-hotel.js", view_hotel_js),
    FILE("view-invitation.js", view_invitation_js),
    FILE("view-list.js", view_list_js),
    FILE("view-lists.js", view_lists_js),
    FILE("view-members.js", view_members_js),
    FILE("view-note.js", view_note_js),
    FILE("view-nowhere.js", view_nowhere_js),
    FILE("view-outbox.js", view_outbox_js),
    FILE("view-reset.js", view_reset_js),
    FILE("view-search.js", view_search_js),
    FILE("worker.js", worker_js),
};

static const size_t count = sizeof(files) / sizeof(files[0]);

size_t cembedded_file_count(void) {
  return count + cembedded_tools_count + cembedded_book_count;
}

cembedded_page_file cembedded_file(size_t place) {
  if (place < count) return files[place];
  place -= count;
  return place < cembedded_tools_count ? cembedded_tools[place] : cembedded_book[place - cembedded_tools_count];
}
