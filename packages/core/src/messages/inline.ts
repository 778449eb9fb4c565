/**
 * Puts a value from outside (a path, a command, a todo) on a line of our text. The value cannot end the line, open or close a
 * tag, or be mistaken for the rest of the line.
 */

/** Safe without quotes: no control characters or tags, no quote or bracket at the start, no white space at either end. */
const PLAIN = /^(?![\s"'[])[^<\p{Cc}\p{Zl}\p{Zp}]+(?<!\s)$/u
const BEYOND_JSON = /[<\u007f-\u009f\u2028\u2029]/g // JSON leaves these unescaped, but they could break the line

/** The bare text if it is safe, otherwise a JSON string. */
export function inline(text: string): string {
  return PLAIN.test(text) ? text.toWellFormed() : quoted(text)
}

/** Always a JSON string: for a sentence from outside, which could be taken for ours. */
export const quoted = (text: string): string => JSON.stringify(text.toWellFormed()).replace(BEYOND_JSON, escaped)

/** At most `most` characters of the text, with a note if there are more. */
export function inlineUpTo(most: number, text: string): string {
  if (text.length <= most) return inline(text)
  return `${inline(text.slice(0, most).toWellFormed())} [cut: ${most} of ${text.length} characters]`
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
