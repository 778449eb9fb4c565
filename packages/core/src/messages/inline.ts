/**
 * A value that came from outside, on a line of its own text: a path, a command, a todo. Nothing in it can end the line, open or close a
 * tag, or pass for something else on the line.
 */

/** As it is: no line ends or other controls, no tags, no quotes or white space at the ends that could be overlooked. */
const PLAIN = /^(?![\s"'[])[^<\p{Cc}\p{Zl}\p{Zp}]+(?<!\s)$/u
const BEYOND_JSON = /[<\u007f-\u009f\u2028\u2029]/g // what JSON leaves as it is and a line cannot bear

/** Bare where it can be, otherwise as a JSON string. */
export function inline(text: string): string {
  return PLAIN.test(text) ? text.toWellFormed() : JSON.stringify(text).replace(BEYOND_JSON, escaped)
}

/** At most so many characters of it, and told where there are more. */
export function inlineUpTo(most: number, text: string): string {
  if (text.length <= most) return inline(text)
  return `${inline(text.slice(0, most).toWellFormed())} [cut: ${most} of ${text.length} characters]`
}

const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
