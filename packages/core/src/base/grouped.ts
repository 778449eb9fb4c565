/** A whole number as people read it: `12,345`. */
export const grouped = (count: number): string => Math.round(count).toLocaleString("en-US")
