/** Made at the first use: that takes longer than loading the rest of the library's entry. */
let format: Intl.NumberFormat | undefined

/** A whole number as people read it: `12,345`. */
export function grouped(count: number): string {
  format ??= new Intl.NumberFormat("en-US")
  return format.format(Math.round(count))
}
