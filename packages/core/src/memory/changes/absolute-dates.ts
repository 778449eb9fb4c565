/**
 * Turns "since yesterday" into a date when a memory is written, because a week later it would mean another day. Sentences about every
 * day, quotations and code are not changed.
 */
import { ENDS } from "../../views/record/user-messages.ts"

const DAY = 86_400_000
const OFFSETS: Readonly<Record<string, number>> = {
  ...{
    yesterday: -1,
    gestern: -1,
    ayer: -1,
    ontem: -1,
    ieri: -1,
    gisteren: -1,
    вчера: -1,
    昨天: -1,
    昨日: -1,
    어제: -1,
  },
  ...{ today: 0, heute: 0, hoy: 0, hoje: 0, oggi: 0, vandaag: 0, сегодня: 0, 今天: 0, 今日: 0, 오늘: 0 },
  ...{ tomorrow: 1, morgen: 1, mañana: 1, amanhã: 1, domani: 1, завтра: 1, 明天: 1, 明日: 1, 내일: 1 },
}
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
const NUMBERS: Readonly<Record<string, number>> = {
  a: 1,
  an: 1,
  one: 1,
  two: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  seven: 7,
  ten: 10,
}
const WORDS = Object.keys(OFFSETS).filter(
  (word) => /^\p{Script=Latin}+$/u.test(word) || /^\p{Script=Cyrillic}+$/u.test(word),
)

const AFTER_PREPOSITION = new RegExp(
  `(?<=(?<!\\p{L})(?:since|until|till|from|as of|starting|by|before|after|seit|bis|ab|vor|nach|desde|hasta|depuis|até|fino a|sinds|tot|vanaf|с|до)\\s)(?:${WORDS.join("|")})(?!['’]|\\p{L})`,
  "giu",
)
const UNSPACED = /(?<=[从從自到])(?:昨天|今天|明天)|(?:昨日|今日|明日)(?=から|まで)|(?:어제|오늘|내일)(?=부터|까지)/gu
const ON_A_DAY = /(?<!\p{L})(?:yesterday|gestern)(?!['’]|\p{L}|\s+(?:morning|evening|afternoon|night)\b)/giu
const AGO = /(?<!\p{L})(\d{1,3}|an?|one|two|three|four|five|six|seven|ten)\s+(day|week|month)s?\s+ago(?!\p{L})/giu
const NAMED_DAY = new RegExp(`(?<!\\p{L})(last|next)\\s+(${WEEKDAYS.join("|")})(?!\\p{L}|['’])`, "giu")
const SPAN = /(?<!\p{L})(last|next)\s+(week|month|year)(?!\p{L}|['’])/giu
const OF_EVERY_DAY =
  /(?<!\p{L})(?:always|never|every|each|whenever|usually|when|if|immer|nie|niemals|jede[nrsm]?|wenn|siempre|nunca|cada|toujours|sempre|daily)(?!\p{L})/iu
const QUOTED = /[`"“„«]/u

/** Replaces relative dates in a text. `today`: YYYY-MM-DD. */
export function withDates(text: string, today: string): string {
  return text
    .split(new RegExp(`(${ENDS.source})`, ENDS.flags))
    .map((sentence) =>
      sentence === undefined || OF_EVERY_DAY.test(sentence) || QUOTED.test(sentence)
        ? sentence
        : dated(sentence, today),
    )
    .join("")
}

function dated(sentence: string, today: string): string {
  const start = Date.parse(`${today}T00:00:00.000Z`)
  const day = (offset: number) => new Date(start + offset * DAY).toISOString().slice(0, today.length)
  const month = (offset: number) => {
    const at = new Date(start)
    return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + offset, 1))
      .toISOString()
      .slice(0, "2026-01".length)
  }
  const sign = (which: string) => (which.toLowerCase() === "last" ? -1 : 1)
  return sentence
    .replace(AFTER_PREPOSITION, (word) => day(OFFSETS[word.toLowerCase()]!))
    .replace(UNSPACED, (word) => day(OFFSETS[word]!))
    .replace(ON_A_DAY, (word) => `${/^y/i.test(word) ? (word.startsWith("Y") ? "On" : "on") : "am"} ${day(-1)}`)
    .replace(AGO, (_, count: string, unit: string) => {
      const number = NUMBERS[count.toLowerCase()] ?? Number(count)
      return /^month$/i.test(unit) ? `in ${month(-number)}` : `on ${day(-number * (/^week$/i.test(unit) ? 7 : 1))}`
    })
    .replace(NAMED_DAY, (_, which: string, name: string) => {
      const ahead = (WEEKDAYS.indexOf(name.toLowerCase()) - new Date(start).getUTCDay() + 7) % 7
      return day(which.toLowerCase() === "last" ? ahead - 7 : ahead === 0 ? 7 : ahead)
    })
    .replace(SPAN, (_, which: string, unit: string) => {
      if (/^week$/i.test(unit)) return `the week of ${day(sign(which) * 7)}`
      return /^month$/i.test(unit) ? month(sign(which)) : String(Number(today.slice(0, 4)) + sign(which))
    })
}
