/** The time that a question names: "in May 2023", "last week", "on 2024-03-01". */

export interface TimeSpan {
  /** Milliseconds since 1970. `to` is exclusive. */
  readonly from: number
  readonly to: number
}

export interface NamedTime extends TimeSpan {
  /** The words that name the time. */
  readonly phrase: string
}

const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
]
const MONTH_NAME = MONTHS.map((month) => (month === "may" ? month : `${month.slice(0, 3)}(?:${month.slice(3)})?`)).join(
  "|",
)
const DAY = 86_400_000

export function findNamedTime(text: string, now: Date): NamedTime | undefined {
  return exactDay(text) ?? dayOfMonth(text, now) ?? monthNamed(text, now) ?? relative(text, now) ?? yearNamed(text)
}

function exactDay(text: string): NamedTime | undefined {
  const [phrase, year, month, day] = /\b(\d{4})-(\d{2})-(\d{2})\b/.exec(text) ?? []
  return phrase === undefined ? undefined : { ...oneDay(Number(year), Number(month) - 1, Number(day)), phrase }
}

const PREPOSED = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)?(?: of)? (${MONTH_NAME})\\b\\.?,?(?: (\\d{4}))?`, "i")
const POSTPOSED = new RegExp(`\\b(${MONTH_NAME})\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b(?!\\d),?(?: (\\d{4}))?`, "i")

function dayOfMonth(text: string, now: Date): NamedTime | undefined {
  const [phrase, day, name, year] = PREPOSED.exec(text) ?? swapped(POSTPOSED.exec(text)) ?? []
  if (phrase === undefined || name === undefined) return undefined
  const month = monthOf(name)
  return { ...oneDay(year === undefined ? lastYearWith(month, now) : Number(year), month, Number(day)), phrase }
}

const swapped = (match: RegExpExecArray | null) => match && [match[0], match[2], match[1], match[3]]

/** "may" is a month only in a phrase such as "in May" or "May 2023". */
const MONTH = new RegExp(
  `\\b(?:(?:in|during|since|of|early|late|mid|last|this) (${MONTH_NAME})\\b|(${MONTH_NAME})(?= (?:19|20)\\d\\d\\b))(?:,? ((?:19|20)\\d\\d))?`,
  "i",
)

function monthNamed(text: string, now: Date): NamedTime | undefined {
  const match = MONTH.exec(text)
  const name = match?.[1] ?? match?.[2]
  if (!match || name === undefined) return undefined
  const month = monthOf(name)
  const year = match[3] === undefined ? lastYearWith(month, now) : Number(match[3])
  return { from: Date.UTC(year, month, 1), to: Date.UTC(year, month + 1, 1), phrase: match[0] }
}

const UNITS: Readonly<Record<string, number>> = { day: 1, week: 7, month: 30, year: 365 }
const NUMBERS: Readonly<Record<string, number>> = { a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6 }

function relative(text: string, now: Date): NamedTime | undefined {
  const at = now.getTime()
  const [close] = /\b(?:yesterday|today)\b/i.exec(text) ?? []
  if (close?.toLowerCase() === "yesterday") return { from: at - 2 * DAY, to: at, phrase: close }
  if (close !== undefined) return { from: at - DAY, to: at + DAY, phrase: close }
  const [lately, span] = /\b(?:last|past|this) (week|month|year)\b/i.exec(text) ?? []
  if (lately !== undefined) return { from: at - 2 * daysOf(span!) * DAY, to: at + DAY, phrase: lately }
  const [ago, amount, unit] = /\b(\d+|an?|one|two|three|four|five|six) (day|week|month|year)s? ago\b/i.exec(text) ?? []
  if (ago === undefined) return undefined
  const days = (NUMBERS[amount!.toLowerCase()] ?? Number(amount)) * daysOf(unit!)
  return { from: at - days * 1.5 * DAY, to: at - days * 0.5 * DAY, phrase: ago }
}

function yearNamed(text: string): NamedTime | undefined {
  const [phrase, year] = /\b(?:in|during|of) ((?:19|20)\d\d)\b/i.exec(text) ?? []
  return phrase === undefined
    ? undefined
    : { from: Date.UTC(Number(year), 0, 1), to: Date.UTC(Number(year) + 1, 0, 1), phrase }
}

const daysOf = (unit: string) => UNITS[unit.toLowerCase()]!
const monthOf = (name: string) => MONTHS.findIndex((month) => month.startsWith(name.toLowerCase().slice(0, 3)))
/** The latest year in which that month has started. */
const lastYearWith = (month: number, now: Date) => now.getUTCFullYear() - (month > now.getUTCMonth() ? 1 : 0)

function oneDay(year: number, month: number, day: number): TimeSpan {
  const from = Date.UTC(year, month, day)
  return { from, to: from + DAY }
}
