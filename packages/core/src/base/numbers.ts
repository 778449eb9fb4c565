/** How numbers, money and times read on the screens of the program and in the lab's reports. */
import { grouped } from "./grouped.ts"

const K = 1_000
const M = 1_000_000
const MINUTE = 60_000

/** `950`, `12.3K`, `167K`, `1.25M`: at most five characters below a billion. */
export function short(value: number): string {
  if (value < K) return String(Math.round(value))
  if (value < 99.95 * K) return `${(value / K).toFixed(1)}K`
  return value < 999.5 * K ? `${Math.round(value / K)}K` : `${(value / M).toFixed(value < 99.95 * M ? 2 : 0)}M`
}

/** Four decimals below a dollar, two above. */
export function dollars(value: number): string {
  const size = Math.abs(value)
  const amount = `$${size.toFixed(size < 1 ? 4 : 2)}`
  return value < 0 && Number(amount.slice(1)) > 0 ? `-${amount}` : amount
}

/** An unknown price reads `unknown`, never $0. */
export const dollarsOrUnknown = (value: number | undefined): string =>
  value === undefined ? "unknown" : dollars(value)

export function percent(part: number, whole: number): string {
  if (whole <= 0 || part <= 0) return "0%"
  const share = (100 * part) / whole
  return share < 0.5 ? "<1%" : `${Math.round(share)}%`
}

/** `1 file`, `3 files` */
export const counted = (count: number, one: string, many = `${one}s`): string =>
  `${grouped(count)} ${count === 1 ? one : many}`

/** `40 ms`, `1.2 s`, `3:05` */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`
  return clockTime(ms)
}

/** `0:07`, `12:30` */
export function clockTime(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`
}

/** `<1 min`, `7 min`, `3 h`, `3 days` */
export function pause(minutes: number): string {
  if (minutes < 1) return "<1 min"
  if (minutes < 120) return `${Math.round(minutes)} min`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 60 / 24)} days`
}

const AGES: readonly (readonly [unit: string, ms: number])[] = [
  ["day", 24 * 60 * MINUTE],
  ["hour", 60 * MINUTE],
  ["minute", MINUTE],
]

/** `just now`, `5 minutes ago`. */
export function timeAgo(then: Date, now: Date): string {
  const ms = now.getTime() - then.getTime()
  const age = AGES.find(([, unit]) => ms >= unit)
  return age ? `${counted(Math.floor(ms / age[1]), age[0])} ago` : "just now"
}
