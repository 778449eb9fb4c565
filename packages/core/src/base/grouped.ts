const FORMAT = new Intl.NumberFormat("en-US") // making one takes longer than any use of it

/** A whole number as people read it: `12,345`. */
export const grouped = (count: number): string => FORMAT.format(Math.round(count))
