/** Formats of numbers, money and times on all screens. */
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
