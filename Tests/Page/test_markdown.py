"""Markdown that other members have written: any text is shown, and none hangs the tab."""

MODULE = "import(new URL('markdown.js', document.querySelector('script[type=module]').src))"

HEAVY = {
    "strong that never ends": "'**a'.repeat(8000)",
    "a heading with blanks": "'# a' + ' '.repeat(24000) + 'x'",
    "open brackets": "'['.repeat(24000)",
    "open brackets before half an address": "'['.repeat(12000) + '](' + 'a'.repeat(12000)",
    "half links": "'[]('.repeat(8000)",
    "deleted text that never ends": "'~~a '.repeat(6000)",
    "empty lines": "'\\n'.repeat(24000)",
    "quotes in quotes": "'> '.repeat(12000) + 'x'",
    "items": "'- a\\n'.repeat(6000)",
    "lines of one paragraph": "'a\\n'.repeat(12000)",
    "a wide table of empty rows": "'|a'.repeat(2000) + '\\n' + '|-'.repeat(2000) + '|\\n' + '|\\n'.repeat(10000)",
    "items in items": "Array.from({ length: 600 }, (_, depth) => ' '.repeat(depth) + '- a').join('\\n')",
}


def rendered(page, text, milliseconds):
    """The element's classes, its text without white space, and how often a place of the text was looked at."""
    return page.driver.execute_async_script("""
        const [milliseconds, done] = [arguments[0], arguments[1]]
        """ + MODULE + """.then(({ markdown }) => {
          let looks = 0
          const exec = RegExp.prototype.exec
          RegExp.prototype.exec = function (text) { looks += 1; return exec.call(this, text) }
          try {
            const text = """ + text + """, made = markdown(text, milliseconds)
            done([made.className, made.textContent.replaceAll(/\\s/g, '').length, looks, text.length])
          } finally { RegExp.prototype.exec = exec }
        })""", milliseconds)


def test_the_work_grows_with_the_text_and_not_with_its_square(browser):
    page = browser()
    page.visit("/lists")
    for kind, text in HEAVY.items():
        classes, _, looks, length = rendered(page, text, 1e9)
        assert classes == "prose", kind
        assert looks < 20 * length, kind


def test_a_text_that_takes_too_long_is_shown_as_it_was_written(browser):
    page = browser()
    page.visit("/lists")
    classes, shown, _, length = rendered(page, "'**a** '.repeat(40000)", 0)
    assert (classes, shown) == ("prose written", 5 * 40000)
