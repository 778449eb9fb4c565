/**
 * How large a test is: small in `npm test`, whole in `npm run test:all`, which runs only the files that import this one. A test is the
 * same at both sizes: fewer kills, fewer random cases, smaller windows, a sample of the recordings.
 */
const isWhole = process.env.TEST_SIZE === "whole"

export const size = <T>(small: T, whole: T): T => (isWhole ? whole : small)

/** The first and the last of a list, or all of it. */
export const sample = <T>(all: readonly T[]): readonly T[] =>
  size([...new Set([...all.slice(0, 1), ...all.slice(-1)])], all)
