const known = ["en", "de", "ja"]
const languageOf = locale => locale.split("-")[0]

/** The first of the browser's languages that the page has, with its region: dates and numbers are written as there. */
export const locale = navigator.languages.find(it => known.includes(languageOf(it))) ?? "en-GB"

const fetchTexts = language => import(`./texts-${language}.js`)

/** All texts of the page. When the browser has another language than before and there is no network, those that are kept. */
export const t = (await fetchTexts(languageOf(locale)).catch(() => Promise.any(known.map(fetchTexts)))).texts
