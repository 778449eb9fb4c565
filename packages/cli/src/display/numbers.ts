/** How numbers, money and times read on every screen. */
export { grouped } from "@strata/core/internal/base/grouped"
export {
  clockTime,
  counted,
  dollars,
  dollarsOrUnknown,
  duration,
  pause,
  percent,
  short,
  timeAgo,
} from "@strata/core/internal/base/numbers"
export { ageOf } from "@strata/core/internal/layers/5-auto-memory/attach/age"
