#include "tools.h"

#pragma clang diagnostic ignored "-Wc23-extensions"

// As in page.c.
#define BYTES static const unsigned char

BYTES docs_book_js[] = {
#embed "../Page/Files/docs-book.js"
};
BYTES docs_contract_js[] = {
#embed "../Page/Files/docs-contract.js"
};
BYTES docs_operation_js[] = {
#embed "../Page/Files/docs-operation.js"
};
BYTES docs_schema_js[] = {
#embed "../Page/Files/docs-schema.js"
};
BYTES docs_snippets_js[] = {
#embed "../Page/Files/docs-snippets.js"
};
BYTES docs_try_js[] = {
#embed "../Page/Files/docs-try.js"
};
BYTES docs_css[] = {
#embed "../Page/Files/docs.css"
};
BYTES docs_html[] = {
#embed "../Page/Files/docs.html"
};
BYTES docs_js[] = {
#embed "../Page/Files/docs.js"
};
BYTES admin_api_js[] = {
#embed "../Page/Files/admin-api.js"
};
BYTES admin_browser_js[] = {
#embed "../Page/Files/admin-browser.js"
};
BYTES admin_document_js[] = {
#embed "../Page/Files/admin-document.js"
};
BYTES admin_plots_js[] = {
#embed "../Page/Files/admin-plots.js"
};
BYTES admin_server_js[] = {
#embed "../Page/Files/admin-server.js"
};
BYTES admin_tables_js[] = {
#embed "../Page/Files/admin-tables.js"
};
BYTES admin_tree_js[] = {
#embed "../Page/Files/admin-tree.js"
};
BYTES admin_work_js[] = {
#embed "../Page/Files/admin-work.js"
};
BYTES admin_css[] = {
#embed "../Page/Files/admin.css"
};
BYTES admin_html[] = {
#embed "../Page/Files/admin.html"
};
BYTES admin_js[] = {
#embed "../Page/Files/admin.js"
};

#define FILE(name, bytes) {name, bytes, sizeof(bytes)}

const cembedded_page_file cembedded_tools[] = {
    FILE("docs-book.js", docs_book_js),
    FILE("docs-contract.js", docs_contract_js),
    FILE("docs-operation.js", docs_operation_js),
    FILE("docs-schema.js", docs_schema_js),
    FILE("docs-snippets.js", docs_snippets_js),
    FILE("docs-try.js", docs_try_js),
    FILE("docs.css", docs_css),
    FILE("docs.html", docs_html),
    FILE("docs.js", docs_js),
    FILE("admin-api.js", admin_api_js),
    FILE("admin-browser.js", admin_browser_js),
    FILE("admin-document.js", admin_document_js),
    FILE("admin-plots.js", admin_plots_js),
    FILE("admin-server.js", admin_server_js),
    FILE("admin-tables.js", admin_tables_js),
    FILE("admin-tree.js", admin_tree_js),
    FILE("admin-work.js", admin_work_js),
    FILE("admin.css", admin_css),
    FILE("admin.html", admin_html),
    FILE("admin.js", admin_js),
};

const size_t cembedded_tools_count = sizeof(cembedded_tools) / sizeof(cembedded_tools[0]);
