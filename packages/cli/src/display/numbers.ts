/** How numbers, money and times read on every screen. */
export {
  clockTime,
  counted,
  dollars,
  dollarsOrUnknown,
  duration,
  grouped,
  pause,
  percent,
  short,
  timeAgo,
} from "@strata/core/base"
export { ageOf } from "@strata/core/memory"
