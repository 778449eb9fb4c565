/** Small pieces of texts: beginnings, sentences, a short hash. A piece is always part of its text, never half a character. */

const ENDS_IN_HALF = /[\uD800-\uDBFF]$/
/** A full stop ends a sentence if a space follows. The marks of Chinese, Japanese and Hindi always do. */
const BETWEEN = /(?<=[.!?])\s+|(?<=[。！？।؟۔])\s*|\n+/u

/** At most so many characters from the beginning. */
export function headOf(text: string, characters: number): string {
  if (text.length <= characters) return text
  return text.slice(0, characters).replace(ENDS_IN_HALF, "")
}

export const firstLineOf = (text: string): string => {
  const end = text.indexOf("\n")
  return end < 0 ? text : text.slice(0, end)
}

export const sentencesOf = (text: string): string[] =>
  text
    .split(BETWEEN)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "")

/** FNV-1a, 32 bits: the same on every machine. */
export function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
