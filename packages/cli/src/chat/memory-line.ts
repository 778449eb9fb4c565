/** Lines that start with `#` are saved as memories. Markdown headings and issue numbers are not: they are part of a message. */

const REMEMBERED = /^#(?![#!\d])[ \t]*(\S[^\n]*)$/

/** The text to remember, or `undefined` if the input is a message. */
export const rememberedText = (input: string): string | undefined => REMEMBERED.exec(input.trim())?.[1]?.trim()
