import { h } from "./dom.js"
import { locale, t } from "./texts.js"

/** Dates as the reader writes them. */

const dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" })

/** A `time` element: the reader's form as text, RFC 3339 as `datetime`. */
export function time(text) {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? "" : h("time", { datetime: text }, dates.format(date))
}

const days = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" })

/** The days of a trip as text, empty without any. @param {{from?: string, to?: string}} trip */
export function daysOf({ from, to }) {
  const [first, last] = [from, to].map(day => day && new Date(day))
  return first && last ? days.formatRange(first, last) : first ? t.from(days.format(first)) : last ? t.till(days.format(last)) : ""
}
