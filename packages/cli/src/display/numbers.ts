/** How numbers, money and times read on every screen. */
export {
  formatClockTime,
  formatCompact,
  formatDollars,
  formatDollarsOrUnknown,
  formatDuration,
  formatNumber,
  formatPause,
  formatPercent,
  formatTimeAgo,
  pluralize,
} from "@strata/core/base"
export { describeAge } from "@strata/core/memory"
