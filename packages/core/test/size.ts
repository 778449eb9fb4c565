/**
 * The size of a test: small in `npm test`, full in `npm run test:all`, which runs the files that import this one and all `*.whole.test.ts`.
 * A test is the same at both sizes: fewer kills, fewer random cases, smaller windows, a sample of the recordings.
 */
/** Whether this is `npm run test:all`. For tests with only one size, such as statistics over all recordings. */
export const isWhole = process.env.TEST_SIZE === "whole"

export const size = <T>(small: T, whole: T): T => (isWhole ? whole : small)

/** Every nth member of a list, or all of it. Tests that share a list use different offsets, so that each member is used by one of them. */
export const everyNth = <T>(list: readonly T[], n: number, from = 0): readonly T[] =>
  size(
    list.filter((_, at) => at % n === from % n),
    list,
  )
