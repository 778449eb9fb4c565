/** A line that starts with `#` is to be remembered. Headings in pasted text and numbers of issues are part of a message. */

const REMEMBERED = /^#(?![#!\d])[ \t]*(\S[^\n]*)$/

/** What to remember; `undefined` where the input is a message. */
export const rememberedText = (input: string): string | undefined => REMEMBERED.exec(input.trim())?.[1]?.trim()
